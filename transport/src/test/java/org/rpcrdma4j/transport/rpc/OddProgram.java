// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import java.util.concurrent.atomic.AtomicInteger;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** A program, in versions 2 and 4, whose procedures do all that a table of programs has to cope with. */
final class OddProgram {

    static final int PROGRAM = 0x20000001;
    static final int ECHO = 1;
    static final int CHOOSE = 2;
    static final int FAIL = 3;
    static final int HUGE = 4;
    static final int CARELESS = 5;

    /** Calls that were executed. */
    final AtomicInteger calls = new AtomicInteger();

    RpcProgram program(Authenticator authenticator) {
        RpcProgram.Builder builder = RpcProgram.program(PROGRAM, "test").authenticator(authenticator);
        for (int version : new int[] {4, 2}) {
            builder.procedure(version, ECHO, RpcProcedure.of(in -> in.readOpaque(16), (bytes, request, results) -> {
                        calls.incrementAndGet();
                        results.writeOpaque(bytes);
                    }))
                    .procedure(version, CHOOSE, RpcProcedure.of(OddProgram::choice, (text, request, results) -> {
                        calls.incrementAndGet();
                        results.writeString(text);
                    }))
                    .procedure(version, FAIL, request -> {
                        request.results().writeInt(1);
                        throw new IllegalStateException("the disk is gone");
                    })
                    .procedure(version, HUGE, request -> {
                        for (int i = 0; i < 10_000; i++) {
                            request.results().writeInt(i);
                        }
                    })
                    .procedure(version, CARELESS, request -> request.results().writeInt(1));
        }
        return builder.build();
    }

    /** A bool, an enum of two values, a union without default, an array of at most two. */
    private static String choice(XdrReader in) throws XdrException {
        StringBuilder text = new StringBuilder();
        text.append(in.readBool()).append(in.readEnum(1, 2));
        int discriminant = in.readInt();
        switch (discriminant) {
            case 3 -> text.append(in.readInt());
            case 5 -> text.append('-');
            default -> throw in.bad("discriminant", discriminant);
        }
        for (int i = in.readCount(2, 4); i > 0; i--) {
            text.append(in.readInt());
        }
        return text.toString();
    }
}
