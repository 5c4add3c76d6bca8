package org.tamanoir.node;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.io.PrintWriter;

/** The rooms of the modules of node and cluster, and what each may see. */
@AnalyzeClasses(
        packages = {"org.tamanoir.node", "org.tamanoir.cluster"},
        importOptions = ImportOption.DoNotIncludeTests.class)
@ArchTag("once")
class ArchitectureTest {
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
    static final ArchRule arrowsPointOneWay = layeredArchitecture()
            .consideringOnlyDependenciesInAnyPackage("org.tamanoir.node..")
            .layer("main")
            .definedBy("org.tamanoir.node")
            .layer("demo")
            .definedBy("org.tamanoir.node.demo..")
            .layer("director")
            .definedBy("org.tamanoir.node.director..")
            .layer("element")
            .definedBy("org.tamanoir.node.element..")
            .layer("reflect")
            .definedBy("org.tamanoir.node.reflect..")
            .layer("ctl")
            .definedBy("org.tamanoir.node.ctl..")
            .layer("run")
            .definedBy("org.tamanoir.node.run..")
            .layer("load")
            .definedBy("org.tamanoir.node.load..")
            .layer("author")
            .definedBy("org.tamanoir.node.author..")
            .layer("ffs")
            .definedBy("org.tamanoir.node.ffs..")
            .layer("admin")
            .definedBy("org.tamanoir.node.admin..")
            .layer("ui")
            .definedBy("org.tamanoir.node.ui..")
            .layer("config")
            .definedBy("org.tamanoir.node.config..")
            .layer("cli")
            .definedBy("org.tamanoir.node.cli..")
            .whereLayer("main")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("demo")
            .mayOnlyBeAccessedByLayers("main")
            .whereLayer("director")
            .mayOnlyBeAccessedByLayers("main")
            .whereLayer("element")
            .mayOnlyBeAccessedByLayers("main")
            .whereLayer("reflect")
            .mayOnlyBeAccessedByLayers("main")
            .whereLayer("author")
            .mayOnlyBeAccessedByLayers("main")
            .whereLayer("ffs")
            .mayOnlyBeAccessedByLayers("main", "load")
            .whereLayer("ctl")
            .mayOnlyBeAccessedByLayers("main", "director")
            .whereLayer("run")
            .mayOnlyBeAccessedByLayers("main", "demo")
            .whereLayer("load")
            .mayOnlyBeAccessedByLayers("main", "demo", "element")
            .whereLayer("admin")
            .mayOnlyBeAccessedByLayers("run", "director", "reflect")
            .whereLayer("ui")
            .mayOnlyBeAccessedByLayers("admin")
            .whereLayer("config")
            .mayOnlyBeAccessedByLayers(
                    "admin", "run", "ctl", "load", "author", "director", "reflect", "demo", "element");

    @ArchTest
    static final ArchRule aClusterStandsOnItsTable = layeredArchitecture()
            .consideringOnlyDependenciesInAnyPackage("org.tamanoir.cluster..")
            .layer("cluster")
            .definedBy("org.tamanoir.cluster")
            .layer("setup")
            .definedBy("org.tamanoir.cluster.setup")
            .layer("config")
            .definedBy("org.tamanoir.cluster.config")
            .layer("lvs")
            .definedBy("org.tamanoir.cluster.lvs")
            .whereLayer("cluster")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("setup")
            .mayOnlyBeAccessedByLayers("cluster")
            .whereLayer("config")
            .mayOnlyBeAccessedByLayers("cluster", "setup")
            .whereLayer("lvs")
            .mayNotAccessAnyLayer()
            .layer("reflect")
            .definedBy("org.tamanoir.cluster.reflect")
            .whereLayer("reflect")
            .mayNotAccessAnyLayer();

    @ArchTest
    static final ArchRule roomsDoNotDependOnEachOtherInCircles =
            slices().matching("org.tamanoir.node.(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule yamlIsReadInOnePlace = noClasses()
            .that()
            .resideOutsideOfPackage("org.tamanoir.node.config..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.snakeyaml..");
}
