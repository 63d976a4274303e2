// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.ProviderMismatchException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.nfs.protocol.FileName;

/** Paths behave as those of the local file system, which is Unix's. */
@TestInstance(Lifecycle.PER_CLASS)
class NfsFilePathTest {

    private static final List<String> PATHS = List.of(
            "",
            "/",
            "a",
            "/a",
            "a/b",
            "/a/b",
            "a/b/c",
            "/a/b/c",
            ".",
            "..",
            "/..",
            "a/..",
            "../a",
            "a/../b",
            "/a/./b",
            "../../x",
            "a//b/",
            "b",
            "/b/c",
            "b/c",
            "c",
            "ab",
            "/a/../../b",
            "\u00e9/\ud83d\ude00",
            "./a");

    private @Nullable MountedDirectory mounted;
    private FileSystem files = FileSystems.getDefault();

    @BeforeAll
    void mount(@TempDir Path directory) throws IOException {
        MountedDirectory mount = new MountedDirectory(directory);
        mounted = mount;
        files = mount.files;
    }

    @AfterAll
    void unmount() throws IOException {
        if (mounted != null) {
            mounted.close();
        }
    }

    private static String outcome(Supplier<@Nullable Object> operation) {
        try {
            return String.valueOf(operation.get());
        } catch (RuntimeException e) {
            return e.getClass().getSimpleName();
        }
    }

    private void same(String what, Supplier<@Nullable Object> here, Supplier<@Nullable Object> there) {
        assertThat(outcome(here)).as(what).isEqualTo(outcome(there));
    }

    @Test
    void whatIsAskedOfOnePathIsAnsweredAsLocally() {
        for (String text : PATHS) {
            Path path = files.getPath(text);
            Path local = Path.of(text);
            same(text, () -> path, () -> local);
            same("root of " + text, path::getRoot, local::getRoot);
            same("parent of " + text, path::getParent, local::getParent);
            same("name of " + text, path::getFileName, local::getFileName);
            same("count of " + text, path::getNameCount, local::getNameCount);
            same("absoluteness of " + text, path::isAbsolute, local::isAbsolute);
            same("normal form of " + text, path::normalize, local::normalize);
            same("names of " + text, () -> list(path), () -> list(local));
            for (int i = -1; i < 4; i++) {
                int from = i;
                same("name of " + text, () -> path.getName(from), () -> local.getName(from));
                for (int j = -1; j < 5; j++) {
                    int to = j;
                    same("part of " + text, () -> path.subpath(from, to), () -> local.subpath(from, to));
                }
            }
        }
    }

    private static List<String> list(Path path) {
        List<String> names = new ArrayList<>();
        path.forEach(name -> names.add(name.toString()));
        return names;
    }

    @Test
    void whatIsAskedOfTwoPathsIsAnsweredAsLocally() {
        for (String one : PATHS) {
            for (String two : PATHS) {
                Path path = files.getPath(one);
                Path other = files.getPath(two);
                Path local = Path.of(one);
                Path localOther = Path.of(two);
                String both = "\"" + one + "\" and \"" + two + "\"";
                same("resolve " + both, () -> path.resolve(other), () -> local.resolve(localOther));
                same("resolve " + both, () -> path.resolve(two), () -> local.resolve(two));
                same("sibling " + both, () -> path.resolveSibling(two), () -> local.resolveSibling(two));
                same("relativize " + both, () -> path.relativize(other), () -> local.relativize(localOther));
                same("starts " + both, () -> path.startsWith(other), () -> local.startsWith(localOther));
                same("ends " + both, () -> path.endsWith(other), () -> local.endsWith(localOther));
                same("equals " + both, () -> path.equals(other), () -> local.equals(localOther));
                same(
                        "order of " + both,
                        () -> Integer.signum(path.compareTo(other)),
                        () -> Integer.signum(local.compareTo(localOther)));
                if (path.equals(other)) {
                    assertThat(path).hasSameHashCodeAs(other);
                }
            }
        }
    }

    @Test
    void pathsOfOtherProvidersAreRefused() {
        Path path = files.getPath("/a");
        assertThatThrownBy(() -> path.resolve(Path.of("b"))).isInstanceOf(ProviderMismatchException.class);
        assertThatThrownBy(() -> path.relativize(Path.of("/b"))).isInstanceOf(ProviderMismatchException.class);
        assertThat(path.startsWith(Path.of("/"))).isFalse();
        assertThat(path.endsWith(Path.of("a"))).isFalse();
        assertThat(path).isNotEqualTo(Path.of("/a"));
        assertThatThrownBy(path::toFile).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(files::newWatchService).isInstanceOf(UnsupportedOperationException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/a/b", "/a b%c?d#e", "/\u00e9\ud83d\ude00", "/x\ny", "/[::]/;:@&=+$,"})
    void aUriLeadsBackToItsPath(String text) {
        Path path = files.getPath(text);
        URI uri = path.toUri();
        assertThat(uri.toString()).matches("[!-~]+");
        assertThat(Path.of(uri)).isEqualTo(path);
        assertThat(Path.of(URI.create(uri.toString())).toUri()).isEqualTo(uri);
    }

    @Test
    void bytesThatAreNoTextLeadThereAndBack() {
        byte[] all = new byte[255];
        for (int i = 1; i < 256; i++) {
            all[i - 1] = (byte) (i == '/' ? '|' : i);
        }
        for (byte[] bytes : List.of(
                all,
                new byte[] {(byte) 0xc3, 'x', (byte) 0xc3, (byte) 0xa9, (byte) 0xff},
                new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80, (byte) 0xf0, (byte) 0x9f},
                new byte[] {(byte) 0xed, (byte) 0xb2, (byte) 0x80})) {
            FileName name = FileName.of(bytes);
            Path path = ((NfsFilePath) files.getPath("/d")).resolve(name);
            assertThat(files.getPath(path.toString())).isEqualTo(path);
            assertThat(((NfsFilePath) files.getPath(path.toString())).lastName())
                    .isEqualTo(name);
            assertThat(Path.of(path.toUri())).isEqualTo(path);
        }
        assertThat(new String(all, StandardCharsets.ISO_8859_1)).hasSize(255);
    }

    @Test
    void textThatIsNoNameIsRefused() {
        assertThatThrownBy(() -> files.getPath("a\0b")).isInstanceOf(InvalidPathException.class);
        assertThatThrownBy(() -> files.getPath("a\ud800")).isInstanceOf(InvalidPathException.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ' ',
            value = {
                "*.java a.java",
                "*.java a/b.java",
                "**.java a/b.java",
                "**/*.java b.java",
                "a/** a/b/c",
                "? x",
                "? /",
                "a?c abc",
                "*.{java,class} x.class",
                "*.{java,class} x.jar",
                "[a-c]x bx",
                "[a-c]x dx",
                "[!a-c]x dx",
                "[!a-c]x ax",
                "[-a] -",
                "[a-] -",
                "[!-]x -x",
                "[*] *",
                "[\\\\] \\",
                "\\* *",
                "\\* x",
                "{a,b*}c bxc",
                "a.b axb",
                "a+b aab",
                "(a) (a)",
                "^$ ^$",
                "a|b a|b",
                "a,b a,b",
                "a} a}",
                "* .x",
                "[[] [",
                "[a&&b] &",
                "[^a] ^",
                "[^a] a",
                "[^a] b",
                "{,a}b b",
                "*/b a/b"
            })
    void patternsMatchAsLocally(String glob, String text) {
        PathMatcher here = files.getPathMatcher("glob:" + glob);
        PathMatcher there = FileSystems.getDefault().getPathMatcher("glob:" + glob);
        assertThat(here.matches(files.getPath(text))).isEqualTo(there.matches(Path.of(text)));
        assertThat(files.getPathMatcher("GLOB:" + glob).matches(files.getPath(text)))
                .isEqualTo(here.matches(files.getPath(text)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"[a", "[", "{a", "{a,{b}}", "a\\", "[b-a]", "[a/b]"})
    void badPatternsAreRefused(String glob) {
        assertThatThrownBy(() -> files.getPathMatcher("glob:" + glob)).isInstanceOf(PatternSyntaxException.class);
    }

    @Test
    void otherPatternsAreRegularExpressions() {
        assertThat(files.getPathMatcher("regex:a.*b").matches(files.getPath("axxb")))
                .isTrue();
        assertThatThrownBy(() -> files.getPathMatcher("a*")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> files.getPathMatcher("shell:a*")).isInstanceOf(UnsupportedOperationException.class);
    }
}
