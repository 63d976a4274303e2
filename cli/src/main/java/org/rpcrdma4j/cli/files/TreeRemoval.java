// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.files;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.rpcrdma4j.nfs.client.NfsEntry;
import org.rpcrdma4j.nfs.client.NfsPath;
import org.rpcrdma4j.nfs.client.NfsVolume;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.Status;

/**
 * Removes a directory with all that is in it, never following symbolic links. What can't be removed is told, and the rest removed. Used by one
 * thread.
 */
public final class TreeRemoval {
    private final NfsVolume volume;
    private final Consumer<IOException> failures;
    /** Directories that still hold something, which was told: that they can't be removed is no news. */
    private final Set<NfsPath> kept = new HashSet<>();

    /** @param failures is told each failure */
    public TreeRemoval(NfsVolume volume, Consumer<IOException> failures) {
        this.volume = volume;
        this.failures = failures;
    }

    /** A directory, whose turn comes twice: to be emptied, and then, when those in it are gone, to be removed. */
    private record Step(Visit directory, boolean emptied) {}

    /** Removes the directory at the path. */
    public void remove(NfsPath path, Attributes attributes) {
        Deque<Step> steps = new ArrayDeque<>();
        steps.push(new Step(Visit.start(path, attributes), false));
        while (!steps.isEmpty()) {
            Step step = steps.pop();
            try {
                if (step.emptied) {
                    removeEmptied(step.directory.path());
                } else {
                    // ORDER: last in, first out: what is in it comes before itself.
                    List<Visit> inside = empty(step.directory);
                    steps.push(new Step(step.directory, true));
                    inside.forEach(visit -> steps.push(new Step(visit, false)));
                }
            } catch (IOException e) {
                failed(step.directory.path(), e);
            }
        }
    }

    /** Removes all but the directories in it, and returns those. */
    private List<Visit> empty(Visit directory) throws IOException {
        directory.requireNoLoop("remove", volume.display(directory.path()));
        List<Visit> directories = new ArrayList<>();
        List<NfsPath> others = new ArrayList<>();
        for (NfsEntry entry : Entries.read(volume, directory.path(), true)) {
            NfsPath path = directory.path().resolve(entry.name());
            try {
                Attributes attributes = Entries.attributes(volume, directory.path(), entry);
                if (attributes.isDirectory()) {
                    directories.add(new Visit(path, attributes, directory));
                } else {
                    others.add(path);
                }
            } catch (IOException e) {
                failed(path, e);
            }
        }
        Parallel.forEach(others, volume::remove, this::failed);
        return directories;
    }

    private void removeEmptied(NfsPath directory) throws IOException {
        if (kept.remove(directory)) {
            keepAbove(directory);
        } else {
            volume.removeDirectory(directory);
        }
    }

    private void failed(NfsPath path, IOException failure) {
        // Somebody else removed it meanwhile.
        if (failure instanceof NfsException answer && answer.status() == Status.NOENT) {
            return;
        }
        failures.accept(failure);
        keepAbove(path);
    }

    private void keepAbove(NfsPath path) {
        NfsPath above = path.parent();
        if (above != null) {
            kept.add(above);
        }
    }
}
