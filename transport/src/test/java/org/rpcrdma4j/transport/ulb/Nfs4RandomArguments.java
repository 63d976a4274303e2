// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import java.util.Random;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** The arguments of every operation of NFS version 4, written out from the RFCs and not from the binding. */
final class Nfs4RandomArguments extends Nfs4Random {

    Nfs4RandomArguments(XdrWriter out, Random random) {
        super(out, random);
    }

    /** Operation number and arguments. */
    void operation(int number) {
        u32(number);
        if (number < 26) {
            first(number);
        } else if (number < 40) {
            second(number);
        } else if (number < 59) {
            minorOne(number);
        } else {
            minorTwo(number);
        }
    }

    private void first(int number) {
        switch (number) {
            case 3 -> u32();
            case 4 -> {
                u32();
                stateid();
            }
            case 5 -> {
                u64();
                u32();
            }
            case 6 -> create();
            case 7 -> u64();
            case 8 -> stateid();
            case 9 -> bitmap();
            case 10, 16, 23, 24 -> {}
            case 11, 15 -> string();
            case 12 -> {
                u32();
                bool();
                u64();
                u64();
                locker();
            }
            case 13 -> {
                u32();
                u64();
                u64();
                stateOwner();
            }
            case 14 -> {
                u32();
                u32();
                stateid();
                u64();
                u64();
            }
            case 17 -> fattr();
            case 18 -> {
                u32();
                u32();
                u32();
                stateOwner();
                openHow();
                openClaim();
            }
            case 19 -> bool();
            case 20 -> {
                stateid();
                u32();
            }
            case 21 -> {
                stateid();
                u32();
                u32();
                u32();
            }
            case 22 -> handle();
            case 25 -> {
                stateid();
                u64();
                u32();
            }
            default -> throw new IllegalArgumentException("operation " + number);
        }
    }

    private void create() {
        switch (pick(1, 2, 3, 4, 5, 6, 7, 8, 9)) {
            case 3, 4 -> {
                u32();
                u32();
            }
            case 5 -> item();
            default -> {}
        }
        string();
        fattr();
    }

    private void second(int number) {
        switch (number) {
            case 26 -> {
                u64();
                verifier();
                u32();
                u32();
                bitmap();
            }
            case 27, 31, 32 -> {}
            case 28, 33 -> string();
            case 29 -> {
                string();
                string();
            }
            case 30 -> u64();
            case 34 -> {
                stateid();
                fattr();
            }
            case 35 -> {
                verifier();
                opaque(1024);
                u32();
                netaddr();
                u32();
            }
            case 36 -> {
                u64();
                verifier();
            }
            case 37 -> fattr();
            case 38 -> {
                stateid();
                u64();
                pick(0, 1, 2);
                item();
            }
            case 39 -> stateOwner();
            default -> throw new IllegalArgumentException("operation " + number);
        }
    }

    private void minorOne(int number) {
        switch (number) {
            case 40 -> {
                u32();
                callbackSecurity();
            }
            case 41 -> {
                sessionid();
                u32();
                bool();
            }
            case 42 -> {
                verifier();
                opaque(1024);
                u32();
                wantedProtection();
                implementation();
            }
            case 43 -> {
                u64();
                u32();
                u32();
                channelAttributes();
                channelAttributes();
                u32();
                callbackSecurity();
            }
            case 44 -> sessionid();
            case 45 -> stateid();
            case 46 -> {
                bool();
                bitmap();
                time();
                time();
                bitmap();
                bitmap();
            }
            case 47 -> {
                deviceid();
                u32();
                u32();
                bitmap();
            }
            case 48 -> {
                u32();
                u32();
                u64();
                verifier();
            }
            case 49 -> {
                u64();
                u64();
                bool();
                stateid();
                optional(this::u64);
                optional(this::time);
                layoutBody();
            }
            case 50 -> {
                bool();
                u32();
                u32();
                u64();
                u64();
                u64();
                stateid();
                u32();
            }
            case 51 -> {
                bool();
                u32();
                u32();
                if (pick(1, 2, 3) == 1) {
                    u64();
                    u64();
                    stateid();
                    opaque(20);
                }
            }
            case 52 -> pick(0, 1);
            case 53 -> {
                sessionid();
                u32();
                u32();
                u32();
                bool();
            }
            case 54 -> {
                opaque(20);
                opaque(20);
            }
            case 55 -> array(3, this::stateid);
            case 56 -> {
                u32();
                if (pick(1, 4, 6) == 1) {
                    u32();
                }
            }
            case 57 -> u64();
            case 58 -> bool();
            default -> throw new IllegalArgumentException("operation " + number);
        }
    }

    private void range() {
        stateid();
        u64();
        u64();
    }

    private void minorTwo(int number) {
        switch (number) {
            case 59, 62 -> range();
            case 60 -> {
                stateid();
                stateid();
                u64();
                u64();
                u64();
                bool();
                bool();
                array(2, this::netloc);
            }
            case 61 -> {
                stateid();
                netloc();
            }
            case 63 -> {
                range();
                bitmap();
            }
            case 64 -> {
                u64();
                u64();
                stateid();
                array(2, () -> {
                    deviceid();
                    u32();
                    u32();
                });
            }
            case 65 -> {
                u64();
                u64();
                stateid();
                fixed(32);
                deviceid();
                layoutBody();
            }
            case 66, 67 -> stateid();
            case 68, 69 -> {
                stateid();
                u64();
                u32();
            }
            case 70 -> {
                stateid();
                u32();
                u64();
                u64();
                u64();
                u64();
                u32();
                u64();
                opaque(20);
            }
            case 71 -> {
                stateid();
                stateid();
                u64();
                u64();
                u64();
            }
            case 72, 75 -> string();
            case 73 -> {
                u32();
                string();
                opaque(30);
            }
            case 74 -> {
                u64();
                u32();
            }
            default -> throw new IllegalArgumentException("operation " + number);
        }
    }
}
