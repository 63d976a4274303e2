// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;

/**
 * RFC 4506, Section 4.15: a discriminant and the arm that goes with it. Without a default arm, other discriminants are refused.
 *
 * @param isBool whether the discriminant is a bool, for messages
 */
record Union(boolean isBool, List<Arm> arms, @Nullable Shape fallback) implements Shape {

    /** NFS's status of a call that succeeded. */
    private static final int OK = 0;

    /** What one discriminant brings. */
    record Arm(int discriminant, Shape shape) {}

    @Override
    public void walk(Walk walk) throws XdrException {
        int discriminant = walk.in.readInt();
        for (int i = 0; i < arms.size(); i++) {
            if (arms.get(i).discriminant == discriminant) {
                arms.get(i).shape.walk(walk);
                return;
            }
        }
        if (fallback == null) {
            throw walk.in.bad(isBool ? "bool" : "discriminant", discriminant);
        }
        fallback.walk(walk);
    }

    private List<Shape> all() {
        List<Shape> all = new ArrayList<>();
        arms.forEach(arm -> all.add(arm.shape));
        if (fallback != null) {
            all.add(fallback);
        }
        return all;
    }

    @Override
    public long smallest() {
        return 4 + all().stream().mapToLong(Shape::smallest).min().orElse(0);
    }

    @Override
    public long smallestIfOk() {
        for (Arm arm : arms) {
            if (arm.discriminant == OK) {
                return 4 + arm.shape.smallest();
            }
        }
        return smallest();
    }

    @Override
    public long largest(ResultLimits limits) {
        return 4 + all().stream().mapToLong(s -> s.largest(limits)).max().orElse(0);
    }

    @Override
    public long largestItem(ResultLimits limits) {
        return all().stream().mapToLong(s -> s.largestItem(limits)).max().orElse(Walk.NONE);
    }

    @Override
    public boolean isExact() {
        return all().stream().allMatch(Shape::isExact);
    }
}
