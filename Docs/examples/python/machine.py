"""A cluster that drives its machine by itself: one socket, select, and no asyncio. Ends with its connection."""

import select
import socket
import sys
import time

from waymark_nav.core import Endpoint, EndpointSettings, Update
from waymark_nav.messages import VehicleSettings

machine = Endpoint(EndpointSettings(vehicle="car", endpoint="cluster"))
machine.send(VehicleSettings(ready_to_show=True))
with socket.socket(socket.AF_UNIX) as connection:
    machine.opening()
    connection.connect(sys.argv[1].removeprefix("unix:"))
    machine.opened(time.monotonic())
    while not machine.wants_cut(time.monotonic()):
        connection.sendall(machine.take_output(time.monotonic()))
        wait = max(0.0, (machine.deadline or 0.0) - time.monotonic())
        if connection in select.select([connection], [], [], wait)[0]:
            data = connection.recv(65_536)
            if not data:
                break
            machine.receive(data, time.monotonic())
        machine.tick(time.monotonic())
        while (event := machine.next_event()) is not None:
            if isinstance(event, Update) and event.state.next_maneuver:
                print(event.name, event.state.next_maneuver.instruction_variants[0], flush=True)
