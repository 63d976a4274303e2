// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.rpcrdma4j.nfs.protocol.FileName;

class NfsUrlTest {

    @Test
    void aUrlIsHostPortPathAndParameters() {
        NfsUrl url = NfsUrl.parse("nfs://host:1234/a/b%20c?mountport=77&fh=0102ff&proto=tcp");
        assertThat(url.host()).isEqualTo("host");
        assertThat(url.port()).isEqualTo(1234);
        assertThat(url.path()).isEqualTo(NfsPath.parse("/a/b c"));
        assertThat(url.mountPort()).isEqualTo(77);
        assertThat(url.handle()).hasToString("0102ff");
        assertThat(url.transport()).isEqualTo(NfsUrl.Transport.TCP);
        assertThat(NfsUrl.parse(url.toString())).isEqualTo(url);
        assertThat(url.display()).isEqualTo("nfs://host:1234/a/b c");
    }

    @Test
    void thePortDependsOnTheTransportUnlessItIsGiven() {
        assertThat(NfsUrl.parse("nfs://h/").portFor(NfsUrl.Transport.RDMA)).isEqualTo(20049);
        assertThat(NfsUrl.parse("nfs://h").portFor(NfsUrl.Transport.TCP)).isEqualTo(2049);
        assertThat(NfsUrl.parse("nfs://h:5").portFor(NfsUrl.Transport.TCP)).isEqualTo(5);
        assertThat(NfsUrl.parse("nfs://h").path().isRoot()).isTrue();
    }

    @Test
    void anIpv6AddressStandsInBrackets() {
        NfsUrl url = NfsUrl.parse("nfs://[::1]:5/a");
        assertThat(url.host()).isEqualTo("::1");
        assertThat(url.port()).isEqualTo(5);
        assertThat(url).hasToString("nfs://[::1]:5/a");
    }

    @Test
    void namesKeepBytesThatAreNoText() {
        NfsUrl url = NfsUrl.parse("nfs://h/%ff%0A%2525/ü?");
        FileName first = url.path().names().getFirst();
        assertThat(first.bytes()).containsExactly(0xff, '\n', '%', '2', '5');
        assertThat(NfsUrl.parse(url.toString())).isEqualTo(url);
        assertThat(url.path().resolve("ü").toUrlPath()).endsWith("%C3%BC");
    }

    @Test
    void whatIsNoUrlIsRefusedInOneLine() {
        for (String text : new String[] {
            "http://h/",
            "nfs:///a",
            "nfs://h:x/",
            "nfs://h:70000/",
            "nfs://h/%g0",
            "nfs://h/%2",
            "nfs://[::1/a",
            "nfs://h/?colour=red",
            "nfs://h/?fh=zz",
            "nfs://h/?proto=udp",
            "nfs://h/%00"
        }) {
            assertThatIllegalArgumentException()
                    .as(text)
                    .isThrownBy(() -> NfsUrl.parse(text))
                    .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n"));
        }
        assertThat(NfsUrl.isUrl("NFS://x")).isTrue();
        assertThat(NfsUrl.isUrl("/nfs")).isFalse();
    }

    @Test
    void aPathIsNamesAndNoSlashIsPartOfOne() {
        NfsPath path = NfsPath.parse("//a///b/");
        assertThat(path.depth()).isEqualTo(2);
        assertThat(path.parent()).isEqualTo(NfsPath.parse("a"));
        assertThat(path.after(1)).isEqualTo(NfsPath.parse("b"));
        assertThat(path.startsWith(NfsPath.parse("a"))).isTrue();
        assertThat(NfsPath.parse("ab").startsWith(NfsPath.parse("a"))).isFalse();
        assertThat(NfsPath.ROOT).hasToString("/");
        assertThat(NfsPath.ROOT.toPathBytes()).hasToString("/");
        assertThat(path.toPathBytes()).hasToString("/a/b");
        assertThatIllegalArgumentException().isThrownBy(() -> NfsPath.of(FileName.of("a/b")));
    }
}
