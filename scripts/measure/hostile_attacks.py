"""The attacks of hostile.py that we thought of ourselves. They are written as those of hostile_reported.py."""

import itertools
import os
import random
import signal
import time

from hostile_peer import (
    ADD_SEGMENTS,
    ALERT,
    ALLOW,
    ANSWER,
    CANCEL,
    DESTINATION,
    GOODBYE,
    OPENED,
    PING,
    PREVIEWS,
    PROMPT,
    PROMPT_ANSWER,
    RECEIPT,
    ROAD,
    SETTINGS,
    SHARE,
    SKIPPABLE,
    SNAPSHOT_END,
    START,
    UNKNOWN,
    UNKNOWN_PUBLISHED,
    UPDATE_TRIP,
    WAYPOINT,
    WITHDRAW,
    ZOOM,
    Closed,
    chunk,
    client_hello,
    frame,
    number,
    opening,
    segment,
    start,
    trip,
    vehicle_hello,
    waypoint,
)
from hostile_target import attack, bursts, crowd, guide_everything, long_route, names


@attack("Pings in large writes, the Pongs are read")
def pings(target):
    peers = target.drain(target.vehicles(4))
    data = frame(PING, number(1, 1)) * 2_500
    yield
    while target.running():
        for peer in peers:
            peer.send(data)


@attack("Pings of 200 endpoints that read no Pong")
def pings_unread(target):
    peers = target.vehicles(target.count(200, 10), receive_bytes=4_096)
    data = frame(PING, number(1, 1)) * 2_500
    yield
    closed = 0
    for peer in peers:
        peer.socket.settimeout(0.2)
        try:
            for _ in range(80):
                peer.send(data)
                if not target.running():
                    break
        except OSError:
            closed += 1
    target.note("closed", closed)
    while target.running():
        time.sleep(0.05)


@attack("unknown skippable frames, ignored")
def skippable(target):
    client = target.client()
    data = frame(UNKNOWN, flags=SKIPPABLE) * 2_700
    yield
    while target.running():
        client.send(data)


@attack("unknown skippable frames in the published range to 2 048 endpoints")
def skippable_published(target):
    client = crowd(target)
    yield
    while target.running():
        client.send(b"".join(client.published(UNKNOWN_PUBLISHED, flags=SKIPPABLE) for _ in range(1_000)))


@attack("publications to 2 048 endpoints, each followed by a rejected one: each is sent by itself")
def fan_out_errors(target):
    client = crowd(target)
    texts = itertools.cycle([chunk(1, "a"), chunk(1, "b")])
    yield
    bad = frame(ROAD, b"", client.session, 0)
    bursts(target, client, target.count(500, 50), lambda: client.published(ROAD, next(texts)) + bad, errors=True)


@attack("publications of 16 sessions in turn to 2 048 endpoints")
def fan_out_sessions(target):
    count = target.count(128, 16)
    target.drain(target.vehicles(count, 16))
    client = target.client()
    sessions = []
    for index in range(16):
        body = client.open(f"s{index}", names(count)[index::16])
        sessions.append(body.number(2))
        client.publish(START, start())
    client.synchronize()
    texts = itertools.cycle([chunk(1, "a"), chunk(1, "b")])
    numbers = itertools.count(2)
    yield
    while target.running():
        data = []
        for _ in range(60):
            text, sequence = next(texts), next(numbers)
            data += [frame(ROAD, text, session, sequence) for session in sessions]
        client.send(b"".join(data))
        client.synchronize()


@attack("routes of 1 MiB to 512 endpoints that read")
def routes(target):
    client = crowd(target, vehicles=32)
    route = long_route(500_000)
    generations = itertools.count(2)
    yield
    while target.running():
        client.publish(START, start(next(generations), route, segments=True))
        client.synchronize()


@attack("endpoints with ever new limits connect and leave: each gets 3 MB of lines thinned anew")
def thinned_snapshots(target):
    client = target.client()
    client.open("thin", ["thin"])
    client.publish(START, start(segments=True))
    for index in range(target.count(5)):
        client.publish(ADD_SEGMENTS, number(1, 1) + chunk(2, segment(f"s{index}", 250_000)))
    client.synchronize()
    yield
    while target.running():
        peers = [target.peer() for _ in range(8)]
        for index, peer in enumerate(peers):
            peer.send(vehicle_hello("thin", f"e{index}", limits=number(9, 2 + next(target.unique))))
        for peer in peers:
            peer.await_frame(SNAPSHOT_END)
            peer.send(frame(GOODBYE, number(1, 1)))
            peer.close()


@attack("segments of 500 KB thinned for 32 profiles")
def thinning(target):
    def limits(index):
        return {"limits": number(9, 1_000 + index)}

    target.drain(target.vehicles(2, 16, each=limits))
    client = target.client()
    client.open("thin", names(2))
    route = chunk(3, segment("leg", target.count(250_000, 5_000)))
    generations = itertools.count(1)
    yield
    while target.running():
        client.publish(START, start(next(generations), route, segments=True))
        client.synchronize()


@attack("trips of 1 MB whose names are cut for 32 profiles")
def cut_texts(target):
    def limits(index):
        return {"limits": number(2, 100 + index)}

    target.drain(target.vehicles(2, 16, each=limits))
    client = target.client()
    client.open("cut", names(2))
    name = "e" + "\u0301" * 60 + "a" * 390
    stops = b"".join(chunk(4, waypoint(name, chunk(3, name) * 7)) for _ in range(target.count(60, 4)))
    trips = [chunk(1, trip(f"t{index}", more=stops)) for index in range(target.count(3))]
    yield
    while target.running():
        random.shuffle(trips)
        client.publish(PREVIEWS, b"".join(trips) + chunk(2, "t0") * 0)
        client.synchronize()


@attack("endpoints say Hello and Goodbye, 48 at a time")
def hello_goodbye(target):
    client = target.client()
    client.open("churn", names(48))
    client.publish(START, start(route=chunk(1, number(1, 1) + number(2, 2))))
    client.synchronize()
    target.drain([client])
    yield
    while target.running():
        peers = target.vehicles(48)
        for peer in peers:
            peer.send(frame(GOODBYE, number(1, 1)))
            peer.close()


@attack("Hellos with 60 KB of OpenSessions behind them in the same write, 48 connections at a time")
def early_input(target):
    behind = b"".join(opening(f"{index}", names(256, f"w{index}-")) for index in range(20))
    yield
    while target.running():
        peers = [target.peer() for _ in range(48)]
        for peer in peers:
            peer.send(client_hello(f"early-{next(target.unique)}") + behind)
        for peer in peers:
            peer.welcome()
            peer.send(frame(GOODBYE, number(1, 1)))
            peer.close()


@attack("connections that are closed at once")
def connect_close(target):
    yield
    while target.running():
        target.peer().close()


@attack("OpenSession, StartGuidance and CancelGuidance again and again")
def guidance_churn(target):
    client = target.client()
    yield
    while target.running():
        ids = [f"{next(target.unique)}" for _ in range(100)]
        client.send(b"".join(opening(identity, [f"c{identity}"]) for identity in ids))
        opened = [client.await_frame(OPENED)[3].number(2) for _ in ids]
        client.send(b"".join(frame(START, start(), session, 1) + frame(CANCEL, b"", session, 2) for session in opened))


@attack("StartGuidance for 8 000 vehicles")
def guidance_crowd(target):
    _, client = guide_everything(target, target.count(8_000, 100))
    generations = itertools.count(1)
    yield
    while target.running():
        client.publish(START, start(next(generations), chunk(1, number(1, 1) + number(2, 2))))


@attack("Receipts of 32 endpoints in large writes, reported every 100 ms")
def receipts(target):
    peers = target.drain(target.vehicles(2, 16))
    client = target.client()
    client.open("receipts", names(2), receipts=100)
    client.publish(START, start())
    target.drain([client])
    data = b"".join(frame(RECEIPT, number(1, 1) + number(2, index % 2), client.session) for index in range(2_000))
    yield
    while target.running():
        for peer in peers:
            peer.send(data)


@attack("ShareDestination, one too many, 8 shares open with 8 000 vehicles")
def shares(target):
    _, client = guide_everything(target, target.count(8_000, 100))

    def share(identity):
        return client.published(SHARE, chunk(1, identity) + chunk(2, waypoint()))

    client.publish(START, start(shareable=True))
    for index in range(8):
        client.send(share(f"s{index}"))
        client.synchronize()
    yield
    bursts(target, client, target.count(500, 50), lambda: share("another"), errors=True)


@attack("trips that opt out of segments and in again, 512 endpoints, 1 MB of segments")
def opt_out(target):
    count = target.count(32, 4)
    target.drain(target.vehicles(count, 16))
    client = target.client()
    client.open("opt", names(count))
    client.publish(START, start(route=long_route(500_000), segments=True))
    client.synchronize()
    yield
    while target.running():
        for is_in in (False, True) * 20:
            client.publish(UPDATE_TRIP, chunk(1, trip(segments=is_in)))
        time.sleep(0.1)


@attack("VehicleSettings that change readiness, 16 endpoints, the client reads")
def settings(target):
    peers = target.vehicles(1, 16, features=[11])
    client = target.client()
    client.open("settings", names(1))
    target.drain([*peers[1:], client])
    data = b"".join(frame(SETTINGS, number(5, index % 2)) for index in range(2_000))
    yield
    while target.running():
        peers[0].send(data)


@attack("ZoomCluster floods the client of another user's session for any vehicle that asked", newcomer="any")
def zooms(target):
    (peer,) = target.vehicles(1, name="zoom", wanted=True)
    target.drain([peer])
    data = frame(ZOOM, number(1, 1)) * 2_000
    yield
    while target.running():
        peer.send(data)


@attack("an endpoint floods the client of another user's session, which reads in one of four seconds", newcomer="any", pauses=True)
def flooded_client(target):
    (peer,) = target.vehicles(1, name="flood", wanted=True)
    target.drain([peer])
    requests = itertools.count()
    yield
    while target.running():
        data = []
        for index in range(500):
            request = f"r{next(requests)}"
            data += [frame(ZOOM, number(1, 1)), frame(SETTINGS, number(2, 1 + index % 2)), frame(SETTINGS, number(5, index % 2))]
            data += [frame(WAYPOINT, chunk(1, request) + chunk(2, waypoint())), frame(WITHDRAW, chunk(1, request))]
        peer.send(b"".join(data))


@attack("AllowNavigation of a waiting vehicle, 4 864 sessions open")
def allow(target):
    holders = [target.client() for _ in range(target.count(19))]
    for holder in holders:
        holder.send(b"".join(opening(f"{index}", [f"{index}-{next(target.unique)}"]) for index in range(256)))
        holder.synchronize()
    (peer,) = target.vehicles(1, name="waiting", wanted=True)
    data = frame(ALLOW) * target.count(2_000, 100)
    yield holders
    while target.running():
        peer.send(data)
        peer.synchronize()


@attack("130 endpoints that do not read, each with 3.9 MB that waits")
def slow_readers(target):
    count = target.count(130, 8)
    peers = target.vehicles(count, receive_bytes=4_096)
    client = target.client()
    sessions = [client.open(f"s{index}", [f"v{index}"]).number(2) for index in range(count)]
    client.send(b"".join(frame(START, start(), session, 1) for session in sessions))
    client.synchronize()
    body = chunk(2, "x" * 500) * 8
    numbers = range(2, target.count(920, 50))
    yield peers
    for session in sessions:
        if target.running():
            client.send(b"".join(frame(ALERT, chunk(1, number(1, each) + body), session, each) for each in numbers))
    while target.running():
        time.sleep(0.05)


@attack("1 000 endpoints resume again and again, with a snapshot of 100 KB")
def resume_storm(target):
    count = target.count(64, 4)
    client = target.client()
    client.open("storm", names(count))
    client.publish(START, start(route=chunk(3, segment("leg", 50_000)), segments=True))
    client.synchronize()
    target.drain([client])
    peers = target.vehicles(count, 16)
    yield
    while target.running():
        for index, peer in enumerate(peers):
            if not target.running():
                break
            peer.close()
            vehicle, endpoint = divmod(index, 16)
            peers[index] = target.peer().greet(vehicle_hello(f"v{vehicle}", f"e{endpoint}", token=peer.token))


@attack("frames with a wrong number, each answered with an Error, which is read")
def errors(target):
    client = target.client()
    client.open("errors", ["nothing"])
    target.drain([client])
    data = frame(ROAD, b"", client.session, 9) * 2_500
    yield
    while target.running():
        client.send(data)


@attack("peers with long ids fill the log, which has no reader", stderr="unread")
def log_unread(target):
    yield
    while target.running():
        peers = []
        for _ in range(50):
            peers.append(target.peer(timeout=3))
            peers[-1].send(vehicle_hello("x" * 60 + f"{next(target.unique) % 1_000:03}", "e" * 64))
        for peer in peers:
            peer.welcome()
            peer.send(frame(UNKNOWN))
            peer.close()


@attack("more connections than the daemon has descriptors", descriptors=300)
def descriptors(target):
    peers = []
    yield
    while target.running():
        if len(peers) < 700:
            try:
                peers.append(target.peer(timeout=1))
                continue
            except OSError:
                pass
        time.sleep(0.02)


@attack("WaypointRequests, withdrawn at once, the client reads")
def waypoints(target):
    (vehicle,) = target.vehicles(1)
    client = target.client()
    client.open("waypoints", names(1))
    client.publish(START, start())
    client.synchronize()
    target.drain([client])
    yield
    while target.running():
        requests = [f"{next(target.unique)}" for _ in range(300)]
        vehicle.send(
            b"".join(
                frame(WAYPOINT, chunk(1, request) + chunk(2, waypoint("T"))) + frame(WITHDRAW, chunk(1, request)) for request in requests
            )
        )
        vehicle.synchronize()


@attack("prompts for 16 endpoints: requests, estimates and answers")
def prompts(target):
    peers = target.vehicles(1, 16)
    client = target.client()
    client.open("prompts", names(1))
    client.publish(START, start())
    client.synchronize()
    target.drain(peers[1:])
    yield
    while target.running():
        requests = [f"{next(target.unique)}" for _ in range(8)]
        peers[0].send(b"".join(frame(WAYPOINT, chunk(1, request) + chunk(2, waypoint())) for request in requests))
        for _request in requests:
            client.await_frame(WAYPOINT)
        client.send(
            b"".join(frame(ANSWER, chunk(1, request) + chunk(2, "v0") + number(3, 1) + chunk(4, number(1, 9))) for request in requests)
        )
        for _request in requests:
            peers[0].await_frame(PROMPT)
        peers[0].send(b"".join(frame(PROMPT_ANSWER, chunk(1, request)) for request in requests))


@attack("8 000 requests of 1 000 vehicles time out at once, with 1 000 clients to ask", daemon="times:\n  request: 2s\n  grace: 3s\n")
def timeouts(target):
    clients = []
    for index in range(target.count(1_000, 20)):
        clients.append(target.peer())
        clients[-1].send(client_hello(f"d{index}"))
    for client in clients:
        client.welcome()
    vehicles = target.drain(target.vehicles(target.count(1_000, 20)))
    target.drain(clients)
    target.seconds += target.count(3)
    yield
    for vehicle in vehicles:
        vehicle.send(b"".join(frame(DESTINATION, chunk(1, f"r{index}") + chunk(2, waypoint())) for index in range(8)))
    while target.running():
        time.sleep(0.05)


@attack("8 000 vehicles of a session are cut at once, and forgotten at once")
def mass_cut(target):
    vehicles, client = guide_everything(target, target.count(8_000, 100))
    target.drain([client])
    target.seconds += target.count(3)
    yield
    os.kill(target.children[0], signal.SIGKILL)
    for vehicle in vehicles:
        vehicle.close()
    while target.running():
        time.sleep(0.05)


@attack("clients that connect and are cut, each with another id")
def grace_peers(target):
    yield
    while target.running():
        peers = []
        for _ in range(100):
            peers.append(target.peer())
            peers[-1].send(client_hello(f"g{next(target.unique)}"))
        try:
            for peer in peers:
                peer.welcome()
                peer.close()
        except Closed as error:
            target.note("refused", str(error))
            time.sleep(0.1)


@attack("a client's sessions retain 512 MiB")
def retained(target):
    text = bytes(1)
    clients = [target.client() for _ in range(target.count(8))]
    body = long_route(480_000)
    yield text
    for client in clients:
        for index in range(target.count(64)):
            if not target.running():
                break
            client.open(f"r{index}", [f"{next(target.unique)}-"])
            client.publish(START, start(route=body, segments=True))
    while target.running():
        time.sleep(0.05)


@attack("endpoints of a 33rd profile come and go in a session with 4 000 endpoints")
def refits(target):
    def odd(index):
        return {"limits": number(1, 100 + index % 31)}

    target.drain(target.vehicles(target.count(4_000, 64), wanted=True, each=odd))
    client = target.client()
    client.open("refit")
    client.publish(START, start())
    client.synchronize()
    target.drain([client])

    def fresh(name):
        return target.peer().greet(vehicle_hello(name, wanted=True, limits=number(1, 2_000 + next(target.unique))))

    # The first has the last place for a profile, the second has none.
    first, second = fresh("x0"), fresh("x1")
    turn = itertools.cycle(["x0", "x1"])
    yield
    while target.running():
        first.send(frame(GOODBYE, number(1, 1)))
        first.close()
        first, second = second, fresh(next(turn))
        second.synchronize()


@attack("two clients replace each other on 64 vehicles with 1 024 endpoints", daemon="arbitration: replace\n")
def replace(target):
    count = target.count(64, 8)
    target.drain(target.vehicles(count, 16))
    clients = [target.client(), target.client()]
    yield
    while target.running():
        for client in clients:
            client.send(opening(f"{next(target.unique)}", names(count)))
            client.await_frame(OPENED)


@attack("a client resumes 256 sessions with 32 connected vehicles each, again and again")
def resume_sessions(target):
    count = target.count(256, 8)
    target.drain(target.vehicles(count * 32))
    client = target.client("many")
    for index in range(count):
        client.open(f"{index}", names(count * 32)[index * 32 : index * 32 + 32])
    yield
    while target.running():
        token = client.token
        client.close()
        client = target.peer().greet(client_hello("many", token=token))
        client.synchronize()
