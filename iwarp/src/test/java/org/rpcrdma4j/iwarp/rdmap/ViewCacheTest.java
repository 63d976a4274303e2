// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class ViewCacheTest {
    private final ViewCache views = new ViewCache(1);

    @Test
    void aLongerSegmentAtTheAddressOfAShorterOneHasAViewOfItsOwn() {
        MemorySegment whole = Arena.ofAuto().allocate(4096);
        views.view(0, whole.asSlice(0, 1024), 0, 1024);

        ByteBuffer view = views.view(0, whole, 2048, 1024);

        assertThat(view.position()).isEqualTo(2048);
        assertThat(view.remaining()).isEqualTo(1024);
    }

    @Test
    void theSameSegmentIsShownByTheSameBuffer() {
        MemorySegment memory = Arena.ofAuto().allocate(4096);
        ByteBuffer first = views.view(0, memory, 0, 1024);

        assertThat(views.view(0, memory, 2048, 1024)).isSameAs(first);
    }
}
