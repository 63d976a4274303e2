// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/**
 * The arrows between the packages, read from the compiled classes.
 *
 * <pre>
 *   protocol <- local <- export <- server
 *      ^
 *      +----- client <- filesystem        (client and server never use each other)
 * </pre>
 */
@AnalyzeClasses(packages = "org.rpcrdma4j.nfs", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String OWN = "org.rpcrdma4j.nfs.";

    private static ArchRule arrow(String from, String... to) {
        DescribedPredicate<JavaClass> allowed = resideInAnyPackage(OWN + from + "..", "java..", "org.jspecify..")
                .or(DescribedPredicate.describe(
                        "primitive", type -> type.getBaseComponentType().isPrimitive()));
        for (String one : to) {
            allowed = allowed.or(resideInAnyPackage("org.rpcrdma4j." + one + ".."));
        }
        return classes()
                .that()
                .resideInAPackage(OWN + from + "..")
                .should()
                .onlyDependOnClassesThat(allowed)
                .allowEmptyShould(true);
    }

    /** One rule for each package; whatever is not named is not allowed. */
    @ArchTest
    static void packagesUseOnlyThoseBelowThem(JavaClasses classes) {
        arrow("protocol", "transport.xdr", "transport.ulb").check(classes);
        arrow("local", "nfs.protocol").check(classes);
        arrow("export", "nfs.protocol", "nfs.local", "transport.rpc").check(classes);
        arrow("server", "nfs.protocol", "nfs.export", "transport", "tcp.server", "tcp.rpcbind", "verbs")
                .check(classes);
        arrow("client", "nfs.protocol", "transport", "tcp.client", "tcp.rpcbind", "verbs")
                .check(classes);
        arrow("filesystem", "nfs.protocol", "nfs.client", "transport.rpc", "verbs")
                .check(classes);
    }

    @ArchTest
    static final ArchRule everyClassIsInAPackageOfTheRules = classes()
            .should()
            .resideInAnyPackage(
                    OWN + "protocol..",
                    OWN + "local..",
                    OWN + "export..",
                    OWN + "server..",
                    OWN + "client..",
                    OWN + "filesystem..");

    @ArchTest
    static final ArchRule anExportKnowsNothingOfTheWire = noClasses()
            .that()
            .resideInAPackage(OWN + "export..")
            .should()
            .dependOnClassesThat(
                    resideInAnyPackage("java.net..", "org.rpcrdma4j.transport.server..", "org.rpcrdma4j.tcp..")
                            .and(DescribedPredicate.describe(
                                    "other than URI", type -> !type.isEquivalentTo(java.net.URI.class))));
}
