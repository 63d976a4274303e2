// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.rpcrdma4j.testkit.Waits;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;

/** Keeps what a set-up tells. */
final class RecordingListener implements SetUpListener {
    private final List<Object> results = new CopyOnWriteArrayList<>();
    private final List<EstablishedStream> prepared = new CopyOnWriteArrayList<>();
    private final CountDownLatch first = new CountDownLatch(1);
    private final boolean failsToPrepare;

    RecordingListener() {
        this(false);
    }

    RecordingListener(boolean failsToPrepare) {
        this.failsToPrepare = failsToPrepare;
    }

    @Override
    public void onPrepare(EstablishedStream stream) {
        prepared.add(stream);
        if (failsToPrepare) {
            throw new IllegalStateException("out of resources");
        }
    }

    @Override
    public void onEstablished(EstablishedStream stream) {
        results.add(stream);
        first.countDown();
    }

    @Override
    public void onRefused(ConnectRefusal refusal) {
        results.add(refusal);
        first.countDown();
    }

    List<Object> results() {
        return results;
    }

    List<EstablishedStream> prepared() {
        return prepared;
    }

    EstablishedStream stream() {
        return (EstablishedStream) result(EstablishedStream.class);
    }

    ConnectRefusal refusal() {
        return (ConnectRefusal) result(ConnectRefusal.class);
    }

    private Object result(Class<?> expected) {
        Waits.until(first, () -> "no result, prepared " + prepared);
        Object only = results.getFirst();
        if (results.size() != 1 || !expected.isInstance(only)) {
            throw new AssertionError("expected one " + expected.getSimpleName() + ", found " + results);
        }
        return only;
    }
}
