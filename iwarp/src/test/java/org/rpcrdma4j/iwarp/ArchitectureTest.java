// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.Executor;

/** The arrows between modules and layers, read from the compiled classes. */
@AnalyzeClasses(packages = "org.rpcrdma4j", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    private static final Set<String> JAVA_BASE = Object.class.getModule().getPackages();

    private static final String[] PURE_LAYERS = {
        "org.rpcrdma4j.iwarp.error..",
        "org.rpcrdma4j.iwarp.mpa..",
        "org.rpcrdma4j.iwarp.ddp..",
        "org.rpcrdma4j.iwarp.rdmap..",
        "org.rpcrdma4j.iwarp.mem..",
        "org.rpcrdma4j.iwarp.queue.."
    };

    @ArchTest
    static final ArchRule verbsUsesNothingButJavaBase = classes()
            .that()
            .resideInAPackage("org.rpcrdma4j.verbs..")
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage("org.rpcrdma4j.verbs..", "org.jspecify.annotations")
                    .or(inJavaBase()))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule pureLayersOpenNoSocket = noClasses()
            .that()
            .resideInAnyPackage(PURE_LAYERS)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.net..", "java.nio.channels..", "javax.net..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule pureLayersStartNoThread = noClasses()
            .that()
            .resideInAnyPackage(PURE_LAYERS)
            .and()
            .doNotHaveSimpleName("OtherThreads")
            .should()
            .dependOnClassesThat(
                    assignableTo(Thread.class)
                            .or(assignableTo(Executor.class))
                            .or(
                                    nameMatching(
                                            "java\\.lang\\.Thread\\$.*|java\\.util\\.concurrent\\.(Executors|CompletableFuture|StructuredTaskScope)|java\\.util\\.Timer")))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule pureLayersReadNoClock = noClasses()
            .that()
            .resideInAnyPackage(PURE_LAYERS)
            .should()
            .callMethodWhere(target(readsTheClock()))
            .orShould()
            .dependOnClassesThat(assignableTo(Clock.class).or(assignableTo(InstantSource.class)))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule layersKnowNothingOfTheSocketSide = noClasses()
            .that()
            .resideInAnyPackage(PURE_LAYERS)
            .should()
            .dependOnClassesThat(resideInAnyPackage(
                    "org.rpcrdma4j.iwarp", "org.rpcrdma4j.iwarp.device..", "org.rpcrdma4j.iwarp.net.."))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule nobodyDependsOnIwarp = noClasses()
            .that()
            .resideOutsideOfPackage("org.rpcrdma4j.iwarp..")
            .should()
            .dependOnClassesThat(resideInAPackage("org.rpcrdma4j.iwarp.."))
            .allowEmptyShould(true);

    private static DescribedPredicate<AccessTarget> readsTheClock() {
        return describe("reads the clock", target -> {
            JavaClass owner = target.getOwner();
            return owner.isEquivalentTo(System.class)
                    ? target.getName().matches("nanoTime|currentTimeMillis")
                    : owner.getPackageName().startsWith("java.time")
                            && target.getName().matches("now|system.*|tick.*");
        });
    }

    private static DescribedPredicate<JavaClass> inJavaBase() {
        return describe("are in java.base", type -> {
            JavaClass base = type.getBaseComponentType();
            return base.isPrimitive() || JAVA_BASE.contains(base.getPackageName());
        });
    }
}
