# The first connection to any of the sockets (Unix, IPv4, IPv6) starts the service.
. /waymark/Tests/BootTests/inside.sh
install_service
for socket in "${sockets[@]}"; do
  equal "$socket" "$(property ActiveState "$socket")/$(property SubState "$socket")" active/listening
done

# TCP is open only where the operator opened it.
refused as stranger timeout 20 waymark request cancel --connect tcp:127.0.0.1:7227 --id car --timeout 5
equal state "$(state)" inactive
open_loopback

for address in "$vehicle" tcp:127.0.0.1:7227 'tcp:[::1]:7227'; do
  systemctl --quiet stop waymarkd
  equal "state before $address" "$(state)" inactive
  start_drive 300 "$address"
  equal "state at $address" "$(state)" active
  systemctl status waymarkd | grep -E 'TriggeredBy: . waymarkd-(vehicle|navigation|observe).socket' >/dev/null
  end_drive
done
# The service never had network access.
equal network "$(property PrivateNetwork)" yes

# The daemon exits and the sockets stay open; without the sockets it is not started.
systemctl --quiet stop waymarkd
[[ -S /run/waymark/vehicle.sock && -S /run/waymark/navigation.sock ]]
systemctl stop "${sockets[@]}"
[[ ! -e /run/waymark/vehicle.sock ]]
refused as car timeout 20 waymark request cancel --connect "$vehicle" --id car --timeout 5
equal state "$(state)" inactive
