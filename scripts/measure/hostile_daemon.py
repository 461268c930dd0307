"""The waymarkd that hostile.py attacks, in a folder of its own, with what it uses and says of itself."""

import itertools
import os
import re
import resource
import socket
import subprocess
import sys
import threading
import time

from hostile_peer import now

# Above this many megabytes the daemon is killed, so that the machine survives.
MEMORY_KILL = 3_500
KEY = "the key of the listener"
DAEMON_USER = 64_001
IS_ROOT = os.geteuid() == 0


class Daemon:
    """A waymarkd in a folder of its own."""

    unique = itertools.count()

    def __init__(self, binary, folder, attack, is_short):
        os.chmod(folder, 0o755)
        home = os.path.join(folder, "home")
        os.mkdir(home)
        if IS_ROOT:
            os.chown(home, DAEMON_USER, DAEMON_USER)
        unix = os.path.join(home, "socket")
        # An address of loopback for itself, so that several daemons never want the same port.
        host = f"127.{1 + os.getpid() % 250}.{next(Daemon.unique) % 250}.1"
        self.addresses = (f"unix:{unix}", f"tcp:{host}:7227", f"tcp:{host}:7228")
        configuration = os.path.join(folder, "configuration")
        settings = attack.get("daemon", "")
        if is_short:
            settings += "log-level: debug\n"
        if "times:" not in settings:
            settings += f"times:\n  grace: {'200ms' if is_short else '1s'}\n"
        roles = "    roles: [vehicle, navigation, observer]\n"
        with open(configuration, "w", encoding="utf-8") as file:
            file.write(
                f"{settings}listeners:\n  - address: unix:{unix}\n    mode: 0666\n{roles}"
                f"  - address: {self.addresses[1]}\n{roles}"
                f"  - address: {self.addresses[2]}\n    key: {KEY}\n{roles}"
            )
        # It contains a key.
        os.chmod(configuration, 0o600)
        if IS_ROOT:
            os.chown(configuration, DAEMON_USER, DAEMON_USER)
        notify = os.path.join(folder, "notify")
        self.notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notifications.bind(notify)
        os.chmod(notify, 0o777)
        self.status, self.memory, self.is_ready, self.was_killed, self.watched = "", [], False, False, True
        self.log_path = os.path.join(folder, "log")
        log = open(self.log_path, "w", encoding="utf-8")  # noqa: SIM115  closed when the daemon has it
        descriptors = attack.get("descriptors")

        def limit():
            _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            count = descriptors or hard
            resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))

        # A pipe without a reader stands for a terminal or a journal that hangs.
        stderr = subprocess.PIPE if attack.get("stderr") == "unread" else log
        user = {"user": DAEMON_USER, "group": DAEMON_USER, "extra_groups": []} if IS_ROOT else {}
        self.process = subprocess.Popen(
            [binary, "--config", configuration],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=stderr,
            cwd="/",
            env={**os.environ, "NOTIFY_SOCKET": notify},
            preexec_fn=limit,
            **user,
        )
        log.close()
        threading.Thread(target=self.listen, daemon=True).start()
        threading.Thread(target=self.watch, daemon=True).start()
        self.wait()

    def wait(self):
        limit = now() + 20
        while not self.is_ready:
            if self.process.poll() is not None or now() > limit:
                with open(self.log_path, encoding="utf-8") as log:
                    sys.exit(f"waymarkd did not start: {log.read()}")
            time.sleep(0.01)

    def listen(self):
        while True:
            for text in self.notifications.recv(4_096).decode().split("\n"):
                self.is_ready = self.is_ready or text == "READY=1"
                if text.startswith("STATUS="):
                    self.status = text[7:]

    def watch(self):
        while self.watched and self.process.poll() is None:
            megabytes = self.resident()
            self.memory.append((now(), megabytes))
            if megabytes > MEMORY_KILL:
                self.was_killed = True
                self.process.kill()
            time.sleep(0.02)

    def resident(self):
        try:
            with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * resource.getpagesize() / 1e6
        except (OSError, IndexError):
            return float("nan")

    def peak(self, begin, end):
        return max((megabytes for at, megabytes in self.memory if begin <= at <= end), default=float("nan"))

    def processor(self):
        """Seconds of all threads."""
        total = 0
        try:
            for task in os.listdir(f"/proc/{self.process.pid}/task"):
                with open(f"/proc/{self.process.pid}/task/{task}/schedstat", encoding="ascii") as file:
                    total += int(file.read().split()[0])
        except OSError:
            pass
        return total / 1e9

    @property
    def is_alive(self):
        return self.process.poll() is None

    def stop(self):
        """Ends it, and returns how much work it did without a pause; None if it does not say."""
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            return None
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            found = re.findall(r"(longest-\w+)=(\d+)", log.read())
        return {name: int(units) for name, units in found} or None

    def end(self):
        self.watched = False
        self.process.kill()
        self.process.wait()
        if self.process.stderr:
            self.process.stderr.close()
