// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import org.rpcrdma4j.verbs.WorkCompletion;

/** An immutable copy of a polled {@link WorkCompletion}; the fields are as there. */
record Completion(
        long id,
        WorkCompletion.Status status,
        WorkCompletion.Operation operation,
        int queuePairNumber,
        long byteLength,
        boolean withInvalidate,
        int invalidatedKey) {

    static Completion of(WorkCompletion from) {
        return new Completion(
                from.id(),
                from.status(),
                from.operation(),
                from.queuePairNumber(),
                from.byteLength(),
                from.isWithInvalidate(),
                from.invalidatedKey());
    }

    boolean isSuccess() {
        return status == WorkCompletion.Status.SUCCESS;
    }

    boolean isFlushed() {
        return status == WorkCompletion.Status.FLUSHED;
    }
}
