// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.tcp;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

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
 *   record <- server
 *     ^
 *     +---- client | rpcbind        (none of the three uses another)
 * </pre>
 */
@AnalyzeClasses(packages = "org.rpcrdma4j.tcp", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String OWN = "org.rpcrdma4j.tcp.";

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
        arrow("record", "transport.xdr").check(classes);
        arrow("server", "tcp.record", "transport").check(classes);
        arrow("client", "tcp.record", "transport").check(classes);
        arrow("rpcbind", "tcp.record", "transport").check(classes);
    }

    @ArchTest
    static final ArchRule everyClassIsInAPackageOfTheRules = classes()
            .should()
            .resideInAnyPackage(OWN + "record..", OWN + "server..", OWN + "client..", OWN + "rpcbind..");
}
