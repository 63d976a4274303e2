// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.sim;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.SplittableRandom;

/** The actions that are possible in one step, and the choice among them. Weights that vary by seed make slow and fast parts. */
final class Agenda {

    /** Something that acts. */
    interface Actor {
        /** Adds each action that it could do now. */
        void offer(Agenda agenda);

        /** Does an action that it has offered in this step. */
        void act(ActionKind kind);

        /** The device it belongs to. */
        SimulatedDevice device();

        /** What stands for it in the trace. */
        int traceId();
    }

    private static final int[] WEIGHTS = {1, 4, 4, 16};

    private final EnumMap<ActionKind, Integer> weightOf = new EnumMap<>(ActionKind.class);
    private Actor[] actors = new Actor[16];
    private ActionKind[] kinds = new ActionKind[16];
    private int[] weights = new int[16];
    private int size;
    private int totalWeight;

    Agenda(SplittableRandom random) {
        for (ActionKind kind : ActionKind.values()) {
            weightOf.put(kind, WEIGHTS[random.nextInt(WEIGHTS.length)]);
        }
    }

    void clear() {
        size = 0;
        totalWeight = 0;
    }

    void add(ActionKind kind, Actor actor) {
        if (size == actors.length) {
            actors = Arrays.copyOf(actors, 2 * size);
            kinds = Arrays.copyOf(kinds, 2 * size);
            weights = Arrays.copyOf(weights, 2 * size);
        }
        actors[size] = actor;
        kinds[size] = kind;
        weights[size] = weightOf.getOrDefault(kind, 1);
        totalWeight += weights[size];
        size++;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** The index of one of the actions. */
    int choose(SplittableRandom random) {
        int point = random.nextInt(totalWeight);
        int i = 0;
        while (point >= weights[i]) {
            point -= weights[i];
            i++;
        }
        return i;
    }

    ActionKind kind(int i) {
        return kinds[i];
    }

    Actor actor(int i) {
        return actors[i];
    }
}
