"""Runs a program on a pseudo-terminal: pseudo-terminal.py '[80, 40]' program argument...

Gives the terminal the next width 0.4 s after the one before, from the first bar on. Prints a JSON line for every width and every output.
"""

import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time

widths = json.loads(sys.argv[1])


def resize(descriptor, columns):
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


child, terminal = pty.fork()
if child == 0:
    resize(0, widths[0])
    os.execvp(sys.argv[2], sys.argv[2:])

print(json.dumps({"columns": widths.pop(0)}))
due = None
pending = b""
while True:
    if due is not None and widths and time.monotonic() >= due:
        print(json.dumps({"columns": widths[0]}))
        resize(terminal, widths.pop(0))
        due = time.monotonic() + 0.4
    if not select.select([terminal], [], [], 0.05)[0]:
        continue
    try:
        data = os.read(terminal, 65536)
    except OSError:  # the program has ended
        break
    if not data:
        break
    pending += data
    text = pending.decode("utf-8", "ignore")
    pending = pending[len(text.encode()):]
    if due is None and "╌" in text:
        due = time.monotonic() + 0.4
    print(json.dumps({"text": text}))
