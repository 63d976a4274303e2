// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import java.util.Random;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** The results of every operation of NFS version 4, written out from the RFCs and not from the binding. */
final class Nfs4RandomResults extends Nfs4Random {

    Nfs4RandomResults(XdrWriter out, Random random) {
        super(out, random);
    }

    /** Operation number, status, and what comes with the status. */
    void operation(int number, boolean success) {
        u32(number);
        if (!success) {
            failed(number);
            return;
        }
        u32(0);
        if (number < 40) {
            minorZero(number);
        } else if (number < 59) {
            minorOne(number);
        } else {
            minorTwo(number);
        }
    }

    private void failed(int number) {
        switch (number) {
            case 12, 13 -> {
                if (failure(10010) == 10010) {
                    lockDenied();
                }
            }
            case 34 -> {
                failure();
                bitmap();
            }
            case 35 -> {
                if (failure(10017) == 10017) {
                    netaddr();
                }
            }
            case 47 -> {
                if (failure(10005) == 10005) {
                    u32();
                }
            }
            case 50 -> {
                if (failure(10058) == 10058) {
                    bool();
                }
            }
            case 60 -> {
                if (failure(10094) == 10094) {
                    bool();
                    bool();
                }
            }
            default -> failure();
        }
    }

    private void minorZero(int number) {
        switch (number) {
            case 3 -> {
                u32();
                u32();
            }
            case 4, 12, 14, 20, 21 -> stateid();
            case 5 -> verifier();
            case 6 -> {
                changeInfo();
                bitmap();
            }
            case 9 -> fattr();
            case 10 -> handle();
            case 11, 28 -> changeInfo();
            case 18 -> {
                stateid();
                changeInfo();
                u32();
                bitmap();
                delegation();
            }
            case 25 -> {
                bool();
                item();
            }
            case 26 -> {
                verifier();
                list(4, () -> {
                    u64();
                    string();
                    fattr();
                });
                bool();
            }
            case 27 -> item();
            case 29 -> {
                changeInfo();
                changeInfo();
            }
            case 33 -> secinfo();
            case 34 -> bitmap();
            case 35 -> {
                u64();
                verifier();
            }
            case 38 -> {
                u32();
                u32();
                verifier();
            }
            default -> {}
        }
    }

    private void minorOne(int number) {
        switch (number) {
            case 41 -> {
                sessionid();
                u32();
                bool();
            }
            case 42 -> {
                u64();
                u32();
                u32();
                givenProtection();
                u64();
                opaque(1024);
                opaque(1024);
                implementation();
            }
            case 43 -> {
                sessionid();
                u32();
                u32();
                channelAttributes();
                channelAttributes();
            }
            case 46 -> {
                if (pick(0, 1) == 0) {
                    verifier();
                    stateid();
                    bitmap();
                    bitmap();
                    bitmap();
                } else {
                    bool();
                }
            }
            case 47 -> {
                layoutBody();
                bitmap();
            }
            case 48 -> {
                u64();
                verifier();
                array(3, this::deviceid);
                bool();
            }
            case 49 -> optional(this::u64);
            case 50 -> {
                bool();
                stateid();
                array(2, () -> {
                    u64();
                    u64();
                    u32();
                    layoutBody();
                });
            }
            case 51 -> optional(this::stateid);
            case 52 -> secinfo();
            case 53 -> {
                sessionid();
                u32();
                u32();
                u32();
                u32();
                u32();
            }
            case 54 -> opaque(20);
            case 55 -> array(3, this::u32);
            case 56 -> delegation();
            default -> {}
        }
    }

    private void minorTwo(int number) {
        switch (number) {
            case 60 -> {
                writeResponse();
                bool();
                bool();
            }
            case 61 -> {
                time();
                stateid();
                array(2, this::netloc);
            }
            case 63 -> bitmap();
            case 67 -> {
                u64();
                array(1, this::u32);
            }
            case 68 -> {
                bool();
                array(3, () -> {
                    int content = pick(0, 1, 2);
                    if (content == 0) {
                        u64();
                        opaque(50);
                    } else if (content == 1) {
                        u64();
                        u64();
                    }
                });
            }
            case 69 -> {
                bool();
                u64();
            }
            case 70 -> writeResponse();
            case 72 -> opaque(60);
            case 73, 75 -> changeInfo();
            case 74 -> {
                u64();
                array(3, this::string);
                bool();
            }
            default -> {}
        }
    }
}
