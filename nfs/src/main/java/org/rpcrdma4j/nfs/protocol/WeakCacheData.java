// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * What tells a client whether somebody else changed a file, too (wcc_data; RFC 1813, Section 2.6).
 *
 * @param before some attributes from before the operation; null if they are not known
 * @param after the attributes from after it; null if they are not known
 */
public record WeakCacheData(
        @Nullable Before before, @Nullable Attributes after) implements XdrValue {

    /** Nothing is known. */
    public static final WeakCacheData NONE = new WeakCacheData(null, null);

    /** Some attributes from before an operation (wcc_attr). */
    public record Before(long size, Time modifyTime, Time changeTime) implements XdrValue {

        /** Those of the attributes. */
        public static Before of(Attributes attributes) {
            return new Before(attributes.size(), attributes.modifyTime(), attributes.changeTime());
        }

        /** Reads them. */
        public static Before read(XdrReader in) throws XdrException {
            return new Before(in.readHyper(), Time.read(in), Time.read(in));
        }

        @Override
        public void write(XdrWriter out) {
            out.writeHyper(size);
            modifyTime.write(out);
            changeTime.write(out);
        }
    }

    /** From the attributes of both moments, as far as they are known. */
    public static WeakCacheData of(@Nullable Attributes before, @Nullable Attributes after) {
        return new WeakCacheData(before == null ? null : Before.of(before), after);
    }

    /** Reads it. */
    public static WeakCacheData read(XdrReader in) throws XdrException {
        Before before = in.readBool() ? Before.read(in) : null;
        return new WeakCacheData(before, Attributes.readOptional(in));
    }

    @Override
    public void write(XdrWriter out) {
        Before first = before;
        out.writeBool(first != null);
        if (first != null) {
            first.write(out);
        }
        Attributes.writeOptional(out, after);
    }
}
