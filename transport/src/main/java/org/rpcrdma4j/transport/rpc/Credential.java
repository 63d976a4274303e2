// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** Who the caller says to be. */
public sealed interface Credential {

    /** The form in which it travels. */
    OpaqueAuth encode();

    /** RFC 5531, Section 10.1: nobody. */
    record None() implements Credential {

        /** The only one that is needed. */
        public static final None INSTANCE = new None();

        @Override
        public OpaqueAuth encode() {
            return OpaqueAuth.NONE;
        }
    }

    /**
     * RFC 5531, Appendix A: user, group and further groups as the client has them.
     *
     * @param stamp any number of the client's
     * @param machine the client's name, at most 255 bytes; one character stands for one byte, whatever it is
     * @param groups at most 16
     */
    record Sys(int stamp, String machine, int user, int group, List<Integer> groups) implements Credential {

        /** The longest name of a machine, in bytes. */
        public static final int MAX_MACHINE = 255;

        /** The most groups. */
        public static final int MAX_GROUPS = 16;

        /** Checks the bounds. */
        public Sys {
            groups = List.copyOf(groups);
            if (groups.size() > MAX_GROUPS) {
                throw new IllegalArgumentException(groups.size() + " groups exceed " + MAX_GROUPS);
            }
            if (machine.length() > MAX_MACHINE) {
                throw new IllegalArgumentException("machine name exceeds " + MAX_MACHINE + " bytes: " + machine);
            }
            for (int i = 0; i < machine.length(); i++) {
                if (machine.charAt(i) > 0xff) {
                    throw new IllegalArgumentException("machine name holds more than one byte a character: " + machine);
                }
            }
        }

        @Override
        public OpaqueAuth encode() {
            XdrWriter out = new XdrWriter();
            out.writeInt(stamp);
            out.writeOpaque(machine.getBytes(StandardCharsets.ISO_8859_1));
            out.writeInt(user);
            out.writeInt(group);
            out.writeInt(groups.size());
            for (int id : groups) {
                out.writeInt(id);
            }
            return new OpaqueAuth(AuthFlavor.AUTH_SYS.value(), MemorySegment.ofArray(out.toByteArray()));
        }

        private static Sys read(XdrReader in) throws XdrException {
            int stamp = in.readInt();
            MemorySegment name = in.readOpaque(MAX_MACHINE);
            String machine = new String(name.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.ISO_8859_1);
            int user = in.readInt();
            int group = in.readInt();
            // ORDER: the bound is checked before anything is allocated by the count.
            Integer[] groups = new Integer[in.readCount(MAX_GROUPS, 4)];
            for (int i = 0; i < groups.length; i++) {
                groups[i] = in.readInt();
            }
            in.requireEnd();
            return new Sys(stamp, machine, user, group, List.of(groups));
        }
    }

    /** A credential of a flavour that isn't understood here; whoever does understands the body. */
    record Other(OpaqueAuth encoded) implements Credential {

        @Override
        public OpaqueAuth encode() {
            return encoded;
        }
    }

    /** Reads what travelled. RFC 5531, Section 10.1: the body of AUTH_NONE is not looked at. */
    static Credential decode(OpaqueAuth auth) throws XdrException {
        return switch (auth.flavor()) {
            case 0 -> None.INSTANCE;
            case 1 -> Sys.read(new XdrReader(auth.body()));
            default -> new Other(auth);
        };
    }
}
