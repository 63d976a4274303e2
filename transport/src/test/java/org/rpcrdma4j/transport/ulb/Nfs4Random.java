// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import java.util.Random;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** The types of NFS version 4 as RFC 7530, 7531, 8881, 5662, 7862 and 7863 declare them, with random content. */
class Nfs4Random extends RandomXdr {

    Nfs4Random(XdrWriter out, Random random) {
        super(out, random);
    }

    void handle() {
        opaque(128);
    }

    void stateid() {
        u32();
        fixed(12);
    }

    void verifier() {
        fixed(8);
    }

    void sessionid() {
        fixed(16);
    }

    void deviceid() {
        fixed(16);
    }

    void time() {
        u64();
        u32();
    }

    void bitmap() {
        array(3, this::u32);
    }

    void fattr() {
        bitmap();
        opaque(30);
    }

    void changeInfo() {
        bool();
        u64();
        u64();
    }

    void stateOwner() {
        u64();
        opaque(1024);
    }

    void netaddr() {
        string();
        string();
    }

    void ace() {
        u32();
        u32();
        u32();
        string();
    }

    void layoutBody() {
        u32();
        opaque(40);
    }

    void locker() {
        if (bool()) {
            u32();
            stateid();
            u32();
            stateOwner();
        } else {
            stateid();
            u32();
        }
    }

    void lockDenied() {
        u64();
        u64();
        u32();
        stateOwner();
    }

    void openHow() {
        if (pick(0, 1) == 1) {
            switch (pick(0, 1, 2, 3)) {
                case 0, 1 -> fattr();
                case 2 -> verifier();
                default -> {
                    verifier();
                    fattr();
                }
            }
        }
    }

    void openClaim() {
        switch (pick(0, 1, 2, 3, 4, 5, 6)) {
            case 0, 3 -> string();
            case 1 -> u32();
            case 2 -> {
                stateid();
                string();
            }
            case 5 -> stateid();
            default -> {}
        }
    }

    void delegation() {
        switch (pick(0, 1, 2, 3)) {
            case 1 -> {
                stateid();
                bool();
                ace();
            }
            case 2 -> {
                stateid();
                bool();
                if (pick(1, 2) == 1) {
                    u64();
                } else {
                    u32();
                    u32();
                }
                ace();
            }
            case 3 -> {
                int why = pick(0, 1, 2, 3, 8);
                if (why == 1 || why == 2) {
                    bool();
                }
            }
            default -> {}
        }
    }

    void secinfo() {
        array(3, () -> {
            if (pick(0, 1, 6, 390003) == 6) {
                opaque(12);
                u32();
                u32();
            }
        });
    }

    void callbackSecurity() {
        array(2, () -> {
            switch (pick(0, 1, 6)) {
                case 1 -> {
                    u32();
                    opaque(255);
                    u32();
                    u32();
                    array(16, this::u32);
                }
                case 6 -> {
                    u32();
                    opaque(9);
                    opaque(9);
                }
                default -> {}
            }
        });
    }

    void channelAttributes() {
        for (int i = 0; i < 6; i++) {
            u32();
        }
        array(1, this::u32);
    }

    void implementation() {
        array(1, () -> {
            string();
            string();
            time();
        });
    }

    void wantedProtection() {
        switch (pick(0, 1, 2)) {
            case 1 -> {
                bitmap();
                bitmap();
            }
            case 2 -> {
                bitmap();
                bitmap();
                array(2, () -> opaque(9));
                array(2, () -> opaque(9));
                u32();
                u32();
            }
            default -> {}
        }
    }

    void givenProtection() {
        switch (pick(0, 1, 2)) {
            case 1 -> {
                bitmap();
                bitmap();
            }
            case 2 -> {
                bitmap();
                bitmap();
                u32();
                u32();
                u32();
                u32();
                array(2, () -> opaque(9));
            }
            default -> {}
        }
    }

    void netloc() {
        switch (pick(1, 2, 3)) {
            case 1, 2 -> string();
            default -> netaddr();
        }
    }

    void writeResponse() {
        array(1, this::stateid);
        u64();
        u32();
        verifier();
    }

    /** A failure's status, with what comes with it. */
    int failure(int... withData) {
        int[] all = java.util.Arrays.copyOf(withData, withData.length + 3);
        all[withData.length] = 1;
        all[withData.length + 1] = 10001;
        all[withData.length + 2] = 10020;
        return pick(all);
    }
}
