// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import java.util.List;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** The kinds of {@link Shape}. */
final class Shapes {

    /** RFC 4506, Section 4.10: the bound where none is declared. */
    private static final long XDR_MOST = 0xffff_ffffL;

    /** Nothing. */
    static final Shape VOID = bytes(0);
    /** An int, or an enum on which no layout hangs. */
    static final Shape INT = bytes(4);
    /** A hyper. */
    static final Shape HYPER = bytes(8);
    /** RFC 4506, Section 4.4: 0 or 1. */
    static final Shape BOOL = new Bool();
    /** An opaque or string without bound in the protocol, nor a usual size. */
    static final Shape ANY = new Opaque(XDR_MOST, Shape.UNBOUNDED);
    /** A string without bound in the protocol that names somebody or something. */
    static final Shape NAME = new Name();
    /** An argument that is the largest size of the eligible result. */
    static final Shape ITEM_BYTES = new ItemCount();

    private Shapes() {}

    /** That many bytes, a multiple of 4. */
    static Shape bytes(int length) {
        return new Bytes(length);
    }

    /** An opaque or string of at most so many bytes. */
    static Shape opaque(long most) {
        return new Opaque(most, XdrReader.padded(most));
    }

    /** An eligible opaque or string of at most so many bytes. */
    static Shape item(long most) {
        return new Item(most, false);
    }

    /** An eligible opaque without bound in the protocol. */
    static Shape item() {
        return new Item(XDR_MOST, false);
    }

    /** An eligible string without bound in the protocol that is the text of a symbolic link. */
    static Shape pathItem() {
        return new Item(XDR_MOST, true);
    }

    /** An argument that is the largest size of the results: so many bytes more are possible, and whether servers are bound by it. */
    static Shape resultBytes(int more, boolean exact) {
        return new ResultCount(more, exact);
    }

    /** One after the other. */
    static Shape sequence(Shape... parts) {
        return new Sequence(List.of(parts));
    }

    /** A counted array of at most so many. */
    static Shape array(long most, Shape element) {
        return new Array(element, most, most);
    }

    /** A counted array without bound in the protocol. */
    static Shape array(Shape element) {
        return new Array(element, XDR_MOST, XDR_MOST);
    }

    /** A counted array without bound in the protocol that usually has no more than so many. */
    static Shape usualArray(long usual, Shape element) {
        return new Array(element, XDR_MOST, usual);
    }

    /** RFC 4506, Section 4.19: optional data. */
    static Shape optional(Shape data) {
        return new Union(true, List.of(new Union.Arm(1, data), new Union.Arm(0, VOID)), null);
    }

    /** RFC 4506, Section 4.19: a list; each entry is preceded by 1, the end is 0. */
    static Shape list(Shape entry) {
        return new Entries(entry);
    }

    /** One arm of a union. */
    static Union.Arm arm(int discriminant, Shape shape) {
        return new Union.Arm(discriminant, shape);
    }

    /** RFC 4506, Section 4.15: a union without default. */
    static Shape union(Union.Arm... arms) {
        return new Union(false, List.of(arms), null);
    }

    /** A union with a default arm. */
    static Shape unionOr(Shape fallback, Union.Arm... arms) {
        return new Union(false, List.of(arms), fallback);
    }

    /** What NFS gives back: a status word, and for status 0 what follows. */
    static Shape result(Shape ok) {
        return unionOr(VOID, arm(0, ok));
    }

    /** The same where a failure has data of its own. */
    static Shape result(Shape ok, Shape failed) {
        return unionOr(failed, arm(0, ok));
    }

    private record Bytes(int length) implements Shape {

        @Override
        public void walk(Walk walk) throws XdrException {
            walk.in.skip(length);
        }

        @Override
        public long smallest() {
            return length;
        }

        @Override
        public long largest(ResultLimits limits) {
            return length;
        }
    }

    private record Bool() implements Shape {

        @Override
        public void walk(Walk walk) throws XdrException {
            walk.in.readBool();
        }

        @Override
        public long smallest() {
            return 4;
        }

        @Override
        public long largest(ResultLimits limits) {
            return 4;
        }
    }

    private record ItemCount() implements Shape {

        @Override
        public void walk(Walk walk) throws XdrException {
            walk.itemBytes = walk.in.readUnsignedInt();
        }

        @Override
        public long smallest() {
            return 4;
        }

        @Override
        public long largest(ResultLimits limits) {
            return 4;
        }
    }

    private record ResultCount(int more, boolean binding) implements Shape {

        @Override
        public void walk(Walk walk) throws XdrException {
            walk.resultBytes = walk.in.readUnsignedInt() + more;
            walk.exact = binding;
        }

        @Override
        public long smallest() {
            return 4;
        }

        @Override
        public long largest(ResultLimits limits) {
            return 4;
        }
    }

    private record Opaque(long most, long usual) implements Shape {

        @Override
        public void walk(Walk walk) throws XdrException {
            walk.in.skipOpaque(most);
        }

        @Override
        public long smallest() {
            return 4;
        }

        @Override
        public long largest(ResultLimits limits) {
            return 4 + usual;
        }
    }

    private record Name() implements Shape {

        @Override
        public void walk(Walk walk) throws XdrException {
            walk.in.skipOpaque(XDR_MOST);
        }

        @Override
        public long smallest() {
            return 4;
        }

        @Override
        public long largest(ResultLimits limits) {
            return 4 + XdrReader.padded(limits.ownerBytes());
        }

        @Override
        public boolean isExact() {
            return false;
        }
    }

    private record Item(long most, boolean isPath) implements Shape {

        @Override
        public void walk(Walk walk) throws XdrException {
            ItemSink.tell(walk.in, most, walk.sink);
        }

        @Override
        public long smallest() {
            return 4;
        }

        @Override
        public long largest(ResultLimits limits) {
            return 4;
        }

        @Override
        public long largestItem(ResultLimits limits) {
            return isPath ? limits.pathBytes() : most;
        }

        @Override
        public boolean isExact() {
            return !isPath;
        }
    }

    private record Sequence(List<Shape> parts) implements Shape {

        @Override
        public void walk(Walk walk) throws XdrException {
            for (int i = 0; i < parts.size(); i++) {
                parts.get(i).walk(walk);
            }
        }

        @Override
        public long smallest() {
            long sum = 0;
            for (Shape part : parts) {
                sum += part.smallest();
            }
            return sum;
        }

        @Override
        public long largest(ResultLimits limits) {
            long sum = 0;
            for (Shape part : parts) {
                sum += part.largest(limits);
            }
            return sum;
        }

        @Override
        public long largestItem(ResultLimits limits) {
            long most = Walk.NONE;
            for (Shape part : parts) {
                most = Math.max(most, part.largestItem(limits));
            }
            return most;
        }

        @Override
        public boolean isExact() {
            return parts.stream().allMatch(Shape::isExact);
        }
    }

    private record Array(Shape element, long most, long usual) implements Shape {

        @Override
        public void walk(Walk walk) throws XdrException {
            int smallest = (int) element.smallest();
            int count = walk.in.readCount(most, smallest);
            if (element instanceof Bytes) {
                walk.in.skip((long) count * smallest);
                return;
            }
            for (int i = 0; i < count; i++) {
                element.walk(walk);
            }
        }

        @Override
        public long smallest() {
            return 4;
        }

        @Override
        public long largest(ResultLimits limits) {
            return usual == XDR_MOST ? UNBOUNDED : 4 + usual * element.largest(limits);
        }

        @Override
        public boolean isExact() {
            return element.isExact();
        }
    }

    private record Entries(Shape entry) implements Shape {

        @Override
        public void walk(Walk walk) throws XdrException {
            // RFC 4506, Section 8: a list of any length takes no stack.
            while (walk.in.readBool()) {
                entry.walk(walk);
            }
        }

        @Override
        public long smallest() {
            return 4;
        }

        @Override
        public long largest(ResultLimits limits) {
            return UNBOUNDED;
        }
    }
}
