"""What an observer costs, for bench.py --observer: the same runs without one, and beside an observer of everything."""

import multiprocessing
import os
import signal
import statistics

from hostile_peer import COUNTERS, READ_COUNTERS, Peer, frame, observer_hello, observing

SCENARIOS = ("saturate-1", "saturate-100", "rate-100x200")
# How much more processor time of the daemon a delivery may take, in the scenario for which that is promised.
RATIO_MAX, PROMISED = 1.1, "saturate-100"
ENTRIES_DROPPED = 13
fork = multiprocessing.get_context("fork")


class Observer:
    """An observer of everything, which reads and discards in a process of its own."""

    def __init__(self, address):
        self.address, self.bytes = address, fork.Value("Q", 0, lock=False)
        self.peer = Peer(address).greet(observer_hello())
        self.peer.send(observing())
        self.process = fork.Process(target=self.read)
        self.process.start()

    def read(self):
        buffer = bytearray(1 << 18)
        self.peer.socket.settimeout(None)
        while count := self.peer.socket.recv_into(buffer):
            self.bytes.value += count

    def end(self):
        """Ends it, and returns the bytes that it read and the entries that it missed."""
        other = Peer(self.address).greet(observer_hello())
        other.send(frame(READ_COUNTERS))
        _, _, _, body = other.await_frame(COUNTERS)
        dropped = sum(counter.number(3) for counter in body.bodies(3) if counter.number(1) == ENTRIES_DROPPED)
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()
        self.peer.close()
        other.close()
        return {"observedBytes": self.bytes.value, "dropped": dropped}


def compare(runs):
    """Prints the daemon's time per delivery without and with an observer; returns whether it is as promised."""
    print(f"\n{'CPU s per million':16} {'without':>8} {'observed':>8} {'ratio':>6}")
    is_kept = True
    for scenario in dict.fromkeys(run["scenario"] for run in runs):
        without, observed = (
            [run["serverSecondsPerMillion"] for run in runs if run["scenario"] == scenario and run["isObserved"] == is_observed]
            for is_observed in (False, True)
        )
        if not without or not observed:
            continue
        ratio = statistics.median(observed) / statistics.median(without)
        is_bad = scenario == PROMISED and ratio > RATIO_MAX
        is_kept = is_kept and not is_bad
        print(
            f"{scenario:16} {statistics.median(without):8.3g} {statistics.median(observed):8.3g} {ratio:6.2f}"
            + (f"  more than {RATIO_MAX}" if is_bad else "")
        )
    return is_kept
