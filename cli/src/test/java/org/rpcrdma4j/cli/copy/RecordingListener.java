// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.copy;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Writes down what a copier tells. */
final class RecordingListener implements CopyListener {
    final AtomicLong bytes = new AtomicLong();
    final AtomicInteger files = new AtomicInteger();
    final List<String> failures = new CopyOnWriteArrayList<>();

    @Override
    public void began(String name) {}

    @Override
    public void moved(long count) {
        bytes.addAndGet(count);
    }

    @Override
    public void copied() {
        files.incrementAndGet();
    }

    @Override
    public void failed(IOException why) {
        failures.add(String.valueOf(why.getMessage()));
    }
}
