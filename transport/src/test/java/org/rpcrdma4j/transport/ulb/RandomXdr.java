// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** Writes the basic types of the NFS protocols with random content; eligible items are kept apart by the writer. */
class RandomXdr {

    final XdrWriter out;
    final Random random;

    RandomXdr(XdrWriter out, Random random) {
        this.out = out;
        this.random = random;
    }

    void u32() {
        out.writeInt(random.nextInt());
    }

    void u32(int value) {
        out.writeInt(value);
    }

    void u64() {
        out.writeHyper(random.nextLong());
    }

    boolean bool() {
        boolean value = random.nextBoolean();
        out.writeBool(value);
        return value;
    }

    void fixed(int length) {
        out.writeFixedOpaque(MemorySegment.ofArray(bytes(length)));
    }

    void opaque(int most) {
        out.writeOpaque(bytes(random.nextInt(4) == 0 ? most : random.nextInt(most + 1)));
    }

    void string() {
        opaque(9);
    }

    void item() {
        out.writeItem(MemorySegment.ofArray(bytes(random.nextInt(70))));
    }

    int pick(int... values) {
        int value = values[random.nextInt(values.length)];
        out.writeInt(value);
        return value;
    }

    void array(int most, Runnable element) {
        int count = random.nextInt(most + 1);
        out.writeInt(count);
        for (int i = 0; i < count; i++) {
            element.run();
        }
    }

    void list(int most, Runnable entry) {
        for (int i = random.nextInt(most + 1); i > 0; i--) {
            out.writeBool(true);
            entry.run();
        }
        out.writeBool(false);
    }

    void optional(Runnable data) {
        if (bool()) {
            data.run();
        }
    }

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }
}
