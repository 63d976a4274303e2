// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * The arrows between the transport's packages, and what its layers must not touch, read from the compiled classes.
 *
 * <pre>
 *   time   wire &lt;- event            xdr &lt;- rpc &lt;- ulb
 *     ^      ^        ^                     ^
 *     +------+--------+--- connection &lt;- frwr
 *                              ^          ^
 *                              client | server      (neither uses the other)
 * </pre>
 */
@AnalyzeClasses(packages = "org.rpcrdma4j.transport", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String[] CODECS = packages("wire", "xdr", "rpc", "ulb");

    private static final String[] STATE_MACHINES = packages("wire", "xdr", "rpc", "ulb", "event", "connection", "frwr");

    private static final String[] ALL_BUT_TIME =
            packages("wire", "xdr", "rpc", "ulb", "event", "connection", "frwr", "client", "server");

    private static String[] packages(String... names) {
        return Arrays.stream(names)
                .map(name -> "org.rpcrdma4j.transport." + name + "..")
                .toArray(String[]::new);
    }

    private static ArchRule arrow(String from, String... to) {
        String[] own = Stream.concat(Stream.of(from), Arrays.stream(to)).toArray(String[]::new);
        DescribedPredicate<JavaClass> allowed = resideInAnyPackage(packages(own))
                .or(resideInAnyPackage("java..", "jdk.jfr..", "org.jspecify..", "org.rpcrdma4j.verbs.."))
                .or(describe("primitive", type -> type.getBaseComponentType().isPrimitive()));
        return classes()
                .that()
                .resideInAPackage("org.rpcrdma4j.transport." + from + "..")
                .should()
                .onlyDependOnClassesThat(allowed)
                .allowEmptyShould(true);
    }

    /** One rule for each package; whatever is not named is not allowed, another module of this project in particular. */
    @ArchTest
    static void packagesUseOnlyThoseBelowThem(JavaClasses classes) {
        arrow("time").check(classes);
        arrow("wire").check(classes);
        arrow("event", "wire").check(classes);
        arrow("xdr").check(classes);
        arrow("rpc", "xdr").check(classes);
        arrow("ulb", "rpc", "xdr").check(classes);
        arrow("connection", "time", "wire", "event").check(classes);
        arrow("frwr", "time", "event", "connection").check(classes);
        arrow("client", "time", "wire", "event", "xdr", "rpc", "ulb", "connection", "frwr")
                .check(classes);
        arrow("server", "time", "wire", "event", "xdr", "rpc", "ulb", "connection", "frwr")
                .check(classes);
    }

    @ArchTest
    static final ArchRule everyClassIsInAPackageOfTheRules = classes()
            .should()
            .resideInAnyPackage(Stream.concat(Arrays.stream(ALL_BUT_TIME), Arrays.stream(packages("time")))
                    .toArray(String[]::new));

    @ArchTest
    static final ArchRule onlyEventsUseTheFlightRecorder = noClasses()
            .that()
            .resideOutsideOfPackage("org.rpcrdma4j.transport.event..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("jdk.jfr..");

    @ArchTest
    static final ArchRule xdrAndRpcKnowNothingOfDevices = noClasses()
            .that()
            .resideInAnyPackage(packages("xdr", "rpc", "ulb"))
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.rpcrdma4j.verbs..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule onlyTimeReadsTheClock = noClasses()
            .that()
            .resideInAnyPackage(ALL_BUT_TIME)
            .should()
            .callMethodWhere(target(readsTheClock()))
            .orShould()
            .dependOnClassesThat(assignableTo(Clock.class).or(assignableTo(InstantSource.class)));

    @ArchTest
    static final ArchRule nobodyOpensASocket = noClasses()
            .should()
            .dependOnClassesThat(resideInAnyPackage("java.nio.channels..", "javax.net..")
                    .or(nameMatching("java\\.net\\.(?!Inet(Socket)?Address$|UnknownHostException$).*")));

    @ArchTest
    static final ArchRule stateMachinesStartNoThread = noClasses()
            .that()
            .resideInAnyPackage(STATE_MACHINES)
            .should()
            .dependOnClassesThat(startsThreads())
            .orShould()
            .callMethodWhere(target(startsAThread()))
            .orShould()
            .callConstructorWhere(
                    target(describe("makes a thread", made -> made.getOwner().isAssignableTo(Thread.class))));

    @ArchTest
    static final ArchRule onlyTheOwnersOfThreadsStartThem = noClasses()
            .that()
            .resideInAnyPackage(packages("client", "server"))
            .and()
            .doNotHaveSimpleName("Resources")
            .and()
            .doNotHaveSimpleName("ServerThreads")
            .should()
            .callMethodWhere(target(startsAThread()))
            .orShould()
            .callConstructorWhere(target(describe(
                    "makes a thread",
                    made -> made.getOwner().isAssignableTo(Thread.class)
                            || made.getOwner().isAssignableTo(Executor.class))))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule codecsKnowNothingOfThreads = noClasses()
            .that()
            .resideInAnyPackage(CODECS)
            .should()
            .dependOnClassesThat(assignableTo(Executor.class)
                    .or(assignableTo(CompletableFuture.class))
                    .or(resideInAnyPackage("java.util.concurrent.locks..")));

    @ArchTest
    static final ArchRule stateMachinesDrawNoNumbers = noClasses()
            .that()
            .resideInAnyPackage(STATE_MACHINES)
            .should()
            .dependOnClassesThat(assignableTo(RandomGenerator.class))
            .orShould()
            .callMethodWhere(target(describe(
                    "draws a number",
                    called -> called.getOwner().isEquivalentTo(Math.class)
                            && called.getName().equals("random"))));

    @ArchTest
    static final ArchRule nobodySleepsOrPolls = noClasses()
            .should()
            .callMethodWhere(target(describe(
                    "sleeps",
                    called -> (called.getOwner().isEquivalentTo(Thread.class)
                                    && called.getName().matches("sleep|yield|onSpinWait"))
                            || called.getOwner().getName().equals("java.util.concurrent.locks.LockSupport"))));

    @ArchTest
    static final ArchRule noClassIsADumpingGround = noClasses()
            .should()
            .haveNameMatching(".*(Util|Utils|Manager|Base|Helper|Impl)")
            .orShould()
            .haveNameMatching(".*\\.Abstract[A-Z].*");

    private static DescribedPredicate<JavaClass> startsThreads() {
        return describe(
                "start threads",
                type -> type.getName()
                        .matches("java\\.lang\\.Thread\\$.*|java\\.util\\.Timer"
                                + "|java\\.util\\.concurrent\\.(Executors|ThreadPoolExecutor|ScheduledThreadPoolExecutor|ForkJoinPool"
                                + "|StructuredTaskScope|ThreadFactory)"));
    }

    private static DescribedPredicate<AccessTarget> startsAThread() {
        return describe("starts a thread", called -> {
            JavaClass owner = called.getOwner();
            return (owner.isAssignableTo(Thread.class) && called.getName().matches("start.*|of.*"))
                    || owner.isEquivalentTo(Executors.class)
                    || (owner.isAssignableTo(CompletableFuture.class)
                            && called.getName().matches(".*Async")
                            && owner.getPackageName().startsWith("java."));
        });
    }

    private static DescribedPredicate<AccessTarget> readsTheClock() {
        return describe("reads the clock", called -> {
            JavaClass owner = called.getOwner();
            return owner.isEquivalentTo(System.class)
                    ? called.getName().matches("nanoTime|currentTimeMillis")
                    : owner.getPackageName().startsWith("java.time")
                            && called.getName().matches("now|system.*|tick.*");
        });
    }
}
