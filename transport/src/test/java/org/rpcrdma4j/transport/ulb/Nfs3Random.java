// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import java.util.Random;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** Arguments and results of NFS version 3, written out from RFC 1813 and not from the binding. */
final class Nfs3Random extends RandomXdr {

    Nfs3Random(XdrWriter out, Random random) {
        super(out, random);
    }

    private void handle() {
        opaque(64);
    }

    private void name() {
        handle();
        string();
    }

    private void attributes() {
        for (int i = 0; i < 5; i++) {
            u32();
        }
        for (int i = 0; i < 5; i++) {
            u64();
        }
        for (int i = 0; i < 6; i++) {
            u32();
        }
    }

    private void after() {
        optional(this::attributes);
    }

    private void change() {
        optional(() -> {
            u64();
            u64();
            u64();
        });
        after();
    }

    private void setTime() {
        if (pick(0, 1, 2) == 2) {
            u32();
            u32();
        }
    }

    private void setAttributes() {
        optional(this::u32);
        optional(this::u32);
        optional(this::u32);
        optional(this::u64);
        setTime();
        setTime();
    }

    void arguments(int procedure, int count) {
        switch (procedure) {
            case 0 -> {}
            case 1, 5, 18, 19, 20 -> handle();
            case 2 -> {
                handle();
                setAttributes();
                optional(this::u64);
            }
            case 3, 12, 13 -> name();
            case 4 -> {
                handle();
                u32();
            }
            case 6 -> {
                handle();
                u64();
                u32(count);
            }
            case 7 -> {
                handle();
                u64();
                u32();
                pick(0, 1, 2);
                item();
            }
            case 8 -> {
                name();
                if (pick(0, 1, 2) == 2) {
                    fixed(8);
                } else {
                    setAttributes();
                }
            }
            case 9 -> {
                name();
                setAttributes();
            }
            case 10 -> {
                name();
                setAttributes();
                item();
            }
            case 11 -> {
                name();
                node();
            }
            case 14 -> {
                name();
                name();
            }
            case 15 -> {
                handle();
                name();
            }
            case 16 -> {
                handle();
                u64();
                fixed(8);
                u32(count);
            }
            case 17 -> {
                handle();
                u64();
                fixed(8);
                u32();
                u32(count);
            }
            case 21 -> {
                handle();
                u64();
                u32();
            }
            default -> throw new IllegalArgumentException("procedure " + procedure);
        }
    }

    private void node() {
        switch (pick(1, 2, 3, 4, 5, 6, 7)) {
            case 3, 4 -> {
                setAttributes();
                u32();
                u32();
            }
            case 6, 7 -> setAttributes();
            default -> {}
        }
    }

    void results(int procedure) {
        switch (procedure) {
            case 0 -> {}
            case 1 -> {
                u32(0);
                attributes();
            }
            case 2, 12, 13 -> {
                u32(0);
                change();
            }
            case 3 -> {
                u32(0);
                handle();
                after();
                after();
            }
            case 8, 9, 10, 11 -> {
                u32(0);
                optional(this::handle);
                after();
                change();
            }
            case 14 -> {
                u32(0);
                change();
                change();
            }
            case 15 -> {
                u32(0);
                after();
                change();
            }
            case 7 -> {
                u32(0);
                change();
                u32();
                pick(0, 1, 2);
                fixed(8);
            }
            case 21 -> {
                u32(0);
                change();
                fixed(8);
            }
            default -> resultsAfterAttributes(procedure);
        }
    }

    private void resultsAfterAttributes(int procedure) {
        u32(0);
        after();
        switch (procedure) {
            case 4 -> u32();
            case 5 -> item();
            case 6 -> {
                u32();
                bool();
                item();
            }
            case 16 -> {
                fixed(8);
                list(4, () -> {
                    u64();
                    string();
                    u64();
                });
                bool();
            }
            case 17 -> {
                fixed(8);
                list(4, () -> {
                    u64();
                    string();
                    u64();
                    after();
                    optional(this::handle);
                });
                bool();
            }
            case 18 -> {
                for (int i = 0; i < 6; i++) {
                    u64();
                }
                u32();
            }
            case 19 -> {
                for (int i = 0; i < 7; i++) {
                    u32();
                }
                u64();
                u32();
                u32();
                u32();
            }
            case 20 -> {
                u32();
                u32();
                for (int i = 0; i < 4; i++) {
                    bool();
                }
            }
            default -> throw new IllegalArgumentException("procedure " + procedure);
        }
    }

    void failure(int procedure) {
        pick(1, 2, 5, 70, 10001);
        switch (procedure) {
            case 1 -> {}
            case 2, 7, 8, 9, 10, 11, 12, 13, 21 -> change();
            case 14 -> {
                change();
                change();
            }
            case 15 -> {
                after();
                change();
            }
            default -> after();
        }
    }
}
