// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Waits for the user, or whoever keeps services running, to ask for the end: SIGINT (Ctrl-C), SIGTERM or SIGHUP. The command then ends in its
 * own order and with its own exit status. A second signal ends the process at once.
 *
 * <p>A shutdown hook alone would do neither: the exit status would be that of the signal, and the second signal would wait for the first. It is
 * what is left where the JDK has no {@code sun.misc.Signal}, which is called by reflection because the compiler warns of it.
 *
 * <p>Signals that were ignored when the process began, as with {@code nohup}, stay ignored.
 */
final class StopSignal implements AutoCloseable {
    private static final List<String> NAMES = List.of("INT", "TERM", "HUP");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread hook = new Thread(this::onShutdown, "stop");
    /** What was there before, by signal. */
    private final Map<Object, Object> replaced = new HashMap<>();

    private StopSignal() {}

    /** From here on signals are waited for. */
    static StopSignal install() {
        StopSignal stop = new StopSignal();
        try {
            stop.handleSignals();
        } catch (ReflectiveOperationException | RuntimeException e) {
            System.getLogger(StopSignal.class.getName()).log(System.Logger.Level.DEBUG, "no signals", e);
            Runtime.getRuntime().addShutdownHook(stop.hook);
        }
        return stop;
    }

    @SuppressWarnings("ReferenceEquality") // the handler equals itself alone
    private void handleSignals() throws ReflectiveOperationException {
        Class<?> signal = Class.forName("sun.misc.Signal");
        Class<?> handler = Class.forName("sun.misc.SignalHandler");
        Method handle = signal.getMethod("handle", signal, handler);
        Method number = signal.getMethod("getNumber");
        InvocationHandler onCall = (proxy, method, arguments) -> switch (method.getName()) {
            case "handle" -> {
                onSignal((int) number.invoke(arguments[0]));
                yield null;
            }
            case "equals" -> proxy == arguments[0];
            case "hashCode" -> System.identityHashCode(proxy);
            default -> "stop";
        };
        Object ours = Proxy.newProxyInstance(StopSignal.class.getClassLoader(), new Class<?>[] {handler}, onCall);
        for (String name : NAMES) {
            Object one = signal.getConstructor(String.class).newInstance(name);
            replaced.put(one, handle.invoke(null, one, ours));
        }
    }

    private void onSignal(int number) {
        if (asked.getCount() == 0) {
            // What the shell reports of a process that a signal has ended.
            Runtime.getRuntime().halt(128 + number);
        }
        asked.countDown();
    }

    private void onShutdown() {
        asked.countDown();
        try {
            ended.await(PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns when the end is asked for, be it by interrupting the thread. */
    void await() {
        try {
            asked.await();
        } catch (InterruptedException e) {
            // ORDER: the interrupt is used up here, or the orderly end after it would be cut short.
            asked.countDown();
        }
    }

    /** The end has come: signals mean what they did before. */
    @Override
    public void close() {
        ended.countDown();
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Method handle = signal.getMethod("handle", signal, Class.forName("sun.misc.SignalHandler"));
            for (Map.Entry<Object, Object> before : replaced.entrySet()) {
                handle.invoke(null, before.getKey(), before.getValue());
            }
        } catch (ReflectiveOperationException | IllegalArgumentException e) {
            System.getLogger(StopSignal.class.getName()).log(System.Logger.Level.DEBUG, "signals not given back", e);
        }
    }
}
