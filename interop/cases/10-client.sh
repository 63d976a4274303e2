# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Our client against the kernel's server.

client_setup() {
    vm_start server || return 1
    proxy_start relay-server "$(peer_port rdma)"
}
client_teardown() {
    end relay-server
    vm stop server
}
# peer_port rdma|nfs|mountd|rpcbind: where the host reaches the kernel's server
peer_port() { vm ports server | sed -n "s/^PEER_${1^^}_PORT=//p"; }

# set_up_flags up|down: the flags octet of the newest connection's MPA Request or Reply (RFC 5044, Section 7.1.1; 40 = C)
set_up_flags() { proxy_value relay-server "setup_$1" | cut -c33-34; }

ping_crc() {
    rpcrdma ping "127.0.0.1:$(proxy_port relay-server)" -c 20 -i 0 --crc "$1"
    local request reply
    request=$((16#$(set_up_flags up) & 0x40))
    reply=$((16#$(set_up_flags down) & 0x40))
    equal 'the CRC bit of our MPA request' "$2" "$request"
    equal "the CRC bit of the kernel's MPA reply" "$2" "$reply"
}
ping_crc_on() { ping_crc on 64; }
ping_crc_off() { ping_crc off 0; }

group 'ours -> kernel' client_setup client_teardown
check 'ping, CRC on' ping_crc_on
check 'ping, CRC off' ping_crc_off
