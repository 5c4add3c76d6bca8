package org.tamanoir.node;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** What the shipped services may see. */
@ArchTag("once")
@AnalyzeClasses(packages = "org.tamanoir.services", importOptions = ImportOption.DoNotIncludeTests.class)
class ServicesArchitectureTest {
    @ArchTest
    static final ArchRule expressionsAreBehindOnePackage = noClasses()
            .that()
            .resideOutsideOfPackage("org.tamanoir.services.morph.expression")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "dev.cel..", "com.google.protobuf..", "com.google.re2j..", "org.antlr..", "org.objectweb.asm..");
}
