// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Registers what is mapped to a {@link FastRegion}: from its execution on, the region is VALID under the given key and rights.
 *
 * <p>The region must be INVALID and mapped when this is executed, and must not be touched by its owner until then. Fails with {@link
 * WorkCompletion.Status#LOCAL_QP_OPERATION_ERROR} otherwise, and for a key without the region's index, which ends the connection. See {@link FastRegion} for what it is in
 * other verbs.
 */
public final class RegisterRequest extends SendQueueRequest {

    /** Who may use the registration. */
    public enum Scope {
        /** Only the queue pair that it was posted on: the default. */
        QUEUE_PAIR,
        /** Every queue pair of the protection domain. Such a region cannot be invalidated by a peer. */
        PROTECTION_DOMAIN
    }

    private @Nullable FastRegion region;
    private int key;
    private Access access = Access.LOCAL_READ;
    private Scope scope = Scope.QUEUE_PAIR;

    /** A signaled registration without a region. */
    public RegisterRequest() {}

    /** Sets {@link #id}. */
    public RegisterRequest id(long value) {
        setId(value);
        return this;
    }

    /** Sets {@link #signaled()}. */
    public RegisterRequest signaled(boolean value) {
        setSignaled(value);
        return this;
    }

    /** Sets {@link #fence()}. */
    public RegisterRequest fence(boolean value) {
        setFence(value);
        return this;
    }

    /** The region and the key it gets, as a rule {@link FastRegion#advanceKey}: its index part must be the region's. */
    public RegisterRequest region(FastRegion value, int newKey) {
        region = Objects.requireNonNull(value, "region");
        key = newKey;
        return this;
    }

    /** The rights it gets. */
    public RegisterRequest access(Access value) {
        access = Objects.requireNonNull(value, "access");
        return this;
    }

    /** Who may use it. */
    public RegisterRequest scope(Scope value) {
        scope = Objects.requireNonNull(value, "scope");
        return this;
    }

    /** The region; null until set. */
    public @Nullable FastRegion region() {
        return region;
    }

    /** The new key. */
    public int key() {
        return key;
    }

    /** The rights. */
    public Access access() {
        return access;
    }

    /** The scope. */
    public Scope scope() {
        return scope;
    }

    @Override
    public WorkCompletion.Operation operation() {
        return WorkCompletion.Operation.REGISTER;
    }
}
