package org.tamanoir.node;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.io.PrintWriter;

/** What the shipped services may see. */
@ArchTag("once")
@AnalyzeClasses(packages = "org.tamanoir.services", importOptions = ImportOption.DoNotIncludeTests.class)
class ServicesArchitectureTest {
    @ArchTest
    static final ArchRule textsDoNotGoByTheLocale = noClasses()
            .should()
            .callMethod(String.class, "format", String.class, Object[].class)
            .orShould()
            .callMethod(String.class, "formatted", Object[].class)
            .orShould()
            .callMethod(PrintWriter.class, "printf", String.class, Object[].class)
            .because("programs read them, and locales have digits of their own: give Locale.ROOT");

    @ArchTest
    static final ArchRule expressionsAreBehindOnePackage = noClasses()
            .that()
            .resideOutsideOfPackage("org.tamanoir.services.morph.expression")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "dev.cel..", "com.google.protobuf..", "com.google.re2j..", "org.antlr..", "org.objectweb.asm..");
}
