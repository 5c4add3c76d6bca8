package org.tamanoir;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.io.PrintWriter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.tamanoir.deploy.ServiceFactory;
import org.tamanoir.service.ServiceTraits;
import org.tamanoir.service.SizeEffect;

/** The rooms of the core and what each may see. */
@ArchTag("once")
@AnalyzeClasses(packages = "org.tamanoir", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    /** Classes of one circle, in any room. Lower it when the largest circle becomes smaller, never raise it. */
    private static final int MOST_IN_A_CIRCLE = 7;

    private static final String JDK = "java..";
    private static final String JDK_TLS = "javax.net.ssl..";
    private static final String ANNOTATIONS = "org.jspecify..";
    private static final String GUAVA = "com.google.common..";
    private static final String CLASS_FILES = "org.objectweb.asm..";

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
    static final ArchRule packetsNeedTheJdkAlone = classes()
            .that()
            .resideInAPackage("org.tamanoir.anep..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("org.tamanoir.anep..", JDK, ANNOTATIONS);

    @ArchTest
    static final ArchRule formatsNeedTheJdkAlone = classes()
            .that()
            .resideInAPackage("org.tamanoir.format")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("org.tamanoir.format", JDK, ANNOTATIONS);

    @ArchTest
    static final ArchRule messagesNeedWhatServicesSee = classes()
            .that()
            .resideInAPackage("org.tamanoir.message..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "org.tamanoir.message..",
                    "org.tamanoir.service..",
                    "org.tamanoir.format",
                    "org.tamanoir.anep..",
                    JDK,
                    ANNOTATIONS);

    @ArchTest
    static final ArchRule packetsAreAccountedForWithoutTheRest = classes()
            .that()
            .resideInAPackage("org.tamanoir.accounting..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("org.tamanoir.accounting..", "org.tamanoir.anep..", JDK, ANNOTATIONS);

    @ArchTest
    static final ArchRule gatewaysStandWithoutTheEnvironment = noClasses()
            .that()
            .resideInAPackage("org.tamanoir.gateway..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.tamanoir.ee..", "org.tamanoir.catalog..", "org.tamanoir.deploy..");

    @ArchTest
    static final ArchRule packetsAreCountedWithoutTheEnvironment = classes()
            .that()
            .resideInAPackage("org.tamanoir.traffic..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "org.tamanoir.traffic..",
                    "org.tamanoir.accounting..",
                    "org.tamanoir.anep..",
                    "org.tamanoir.service..",
                    JDK,
                    ANNOTATIONS);

    @ArchTest
    static final ArchRule streamsAreAdmittedWithoutTheEnvironment = classes()
            .that()
            .resideInAPackage("org.tamanoir.admission..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "org.tamanoir.admission..",
                    "org.tamanoir.accounting..",
                    "org.tamanoir.routing..",
                    "org.tamanoir.transport..",
                    "org.slf4j..",
                    JDK,
                    ANNOTATIONS);

    @ArchTest
    static final ArchRule routesNeedLittleButTheJdk = classes()
            .that()
            .resideInAPackage("org.tamanoir.routing..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "org.tamanoir.routing..",
                    "org.tamanoir.anep", // Addresses as texts, which services see, too.
                    "org.apache.commons.compress.compressors.bzip2..",
                    JDK,
                    ANNOTATIONS);

    @ArchTest
    static final ArchRule whatIsReadyNeedsTheJdkAlone = classes()
            .that()
            .resideInAPackage("org.tamanoir.ready..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("org.tamanoir.ready..", JDK, ANNOTATIONS);

    @ArchTest
    static final ArchRule theArenaNeedsTheJdkAlone = classes()
            .that()
            .resideInAPackage("org.tamanoir.arena..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("org.tamanoir.arena..", JDK, ANNOTATIONS);

    @ArchTest
    static final ArchRule theMachineNeedsTheJdkAlone = classes()
            .that()
            .resideInAPackage("org.tamanoir.platform..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("org.tamanoir.platform..", JDK, "com.sun.management..", ANNOTATIONS);

    @ArchTest
    static final ArchRule plainRulesKnowNoSockets = classes()
            .that()
            .resideInAPackage("org.tamanoir.plain..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "org.tamanoir.plain..",
                    "org.tamanoir.icmp..",
                    "org.tamanoir.nodeos..",
                    "org.tamanoir.service..",
                    "org.tamanoir.routing..",
                    "org.tamanoir.anep..",
                    JDK,
                    ANNOTATIONS);

    /** So that a simulation decides who goes on. */
    @ArchTest
    static final ArchRule theEnvironmentWaitsByThePlatformAlone = noClasses()
            .that()
            .resideInAnyPackage(
                    "org.tamanoir.ee..", "org.tamanoir.sched..", "org.tamanoir.supervision..", "org.tamanoir.offload..")
            .should()
            .dependOnClassesThat()
            .belongToAnyOf(LockSupport.class, CompletableFuture.class);

    @ArchTest
    static final ArchRule disciplinesArePureData = classes()
            .that()
            .resideInAPackage("org.tamanoir.qdisc..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "org.tamanoir.qdisc..",
                    "org.tamanoir.accounting..",
                    "org.tamanoir.anep..",
                    "org.tamanoir.routing..",
                    "java.lang",
                    "java.lang.invoke",
                    "java.util",
                    "java.util.function",
                    "java.util.regex",
                    "java.util.stream",
                    "java.time",
                    "java.nio",
                    ANNOTATIONS);

    @ArchTest
    static final ArchRule schedulingPointsKnowNoSockets = classes()
            .that()
            .resideInAPackage("org.tamanoir.sched..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "org.tamanoir.sched..",
                    "org.tamanoir.qdisc..",
                    "org.tamanoir.arena..",
                    "org.tamanoir.service..",
                    "org.tamanoir.accounting..",
                    "org.tamanoir.anep..",
                    "org.tamanoir.routing..",
                    "org.slf4j..",
                    JDK,
                    ANNOTATIONS);

    @ArchTest
    static final ArchRule schedulingHasNoThreadsAndNoClock = noClasses()
            .that()
            .resideInAnyPackage("org.tamanoir.qdisc..", "org.tamanoir.sched..")
            .should()
            .callMethod(System.class, "nanoTime")
            .orShould()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .dependOnClassesThat()
            .areAssignableTo(Thread.class);

    @ArchTest
    static final ArchRule activeCodeSeesPacketsAlone = classes()
            .that()
            .resideInAPackage("org.tamanoir.service..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "org.tamanoir.service..",
                    "org.tamanoir.anep..",
                    "org.tamanoir.nodeos..",
                    "org.tamanoir.format",
                    JDK,
                    ANNOTATIONS);

    @ArchTest
    static final ArchRule messagesAreMadeForActiveCode = classes()
            .that()
            .resideInAPackage("org.tamanoir.message..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "org.tamanoir.message..",
                    "org.tamanoir.service..",
                    "org.tamanoir.anep..",
                    "org.tamanoir.format",
                    JDK,
                    ANNOTATIONS);

    @ArchTest
    static final ArchRule icmpIsReadByActiveCode = classes()
            .that()
            .resideInAPackage("org.tamanoir.icmp..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("org.tamanoir.icmp..", "org.tamanoir.anep..", JDK, ANNOTATIONS);

    @ArchTest
    static final ArchRule rtpPacketsAreReadByActiveCode = classes()
            .that()
            .haveFullyQualifiedName("org.tamanoir.rtp.RtpPacket")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("org.tamanoir.rtp", "org.tamanoir.anep..", JDK, ANNOTATIONS);

    @ArchTest
    static final ArchRule levelsArePortsAlone = classes()
            .that()
            .resideInAPackage("org.tamanoir.nodeos..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("org.tamanoir.nodeos..", "org.tamanoir.anep..", JDK, ANNOTATIONS);

    @ArchTest
    static final ArchRule codeIsDeployedWithoutTheEnvironment = classes()
            .that()
            .resideInAPackage("org.tamanoir.deploy..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "org.tamanoir.deploy..",
                    "org.tamanoir.service..",
                    "org.tamanoir.anep..",
                    "org.tamanoir.format..",
                    "org.tamanoir.nodeos..",
                    "org.tamanoir.platform..",
                    "org.tamanoir.preemption..",
                    "tools.jackson..",
                    "org.slf4j..",
                    GUAVA,
                    JDK,
                    JDK_TLS,
                    ANNOTATIONS);

    @ArchTest
    static final ArchRule checkpointsArePutInWithoutTheNode = classes()
            .that()
            .resideInAPackage("org.tamanoir.preemption..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("org.tamanoir.preemption..", CLASS_FILES, JDK, ANNOTATIONS);

    @ArchTest
    static final ArchRule classFilesAreKnownInOneRoom = noClasses()
            .that()
            .resideOutsideOfPackage("org.tamanoir.preemption..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage(CLASS_FILES);

    @ArchTest
    static final ArchRule certificatesNeedTheJdkAndALogAlone = classes()
            .that()
            .resideInAPackage("org.tamanoir.tls..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "org.tamanoir.tls..",
                    JDK,
                    JDK_TLS,
                    "javax.crypto.spec..",
                    "javax.security.auth.x500..",
                    "org.slf4j..",
                    GUAVA,
                    ANNOTATIONS);

    @ArchTest
    static final ArchRule nothingBelowUsesTheManager = noClasses()
            .that()
            .resideInAnyPackage(
                    "org.tamanoir.anep..",
                    "org.tamanoir.routing..",
                    "org.tamanoir.service..",
                    "org.tamanoir.deploy..",
                    "org.tamanoir.transport..",
                    "org.tamanoir.tls..",
                    "org.tamanoir.ee..",
                    "org.tamanoir.client..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.tamanoir.manager..");

    @ArchTest
    static final ArchRule socketsAreBehindTheTransport = noClasses()
            .that()
            .resideOutsideOfPackage("org.tamanoir.transport..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.netty..", "com.sun.jna..");

    /** Packets, disciplines and what services see stay on the JDK; the others take it where no packet waits. */
    @ArchTest
    static final ArchRule thePacketPathIsWithoutGuava = noClasses()
            .that()
            .resideInAnyPackage(
                    "org.tamanoir.anep..",
                    "org.tamanoir.accounting..",
                    "org.tamanoir.qdisc..",
                    "org.tamanoir.service..",
                    "org.tamanoir.nodeos..",
                    "org.tamanoir.routing..",
                    "org.tamanoir.transport..",
                    "org.tamanoir.ee..",
                    "org.tamanoir.testkit..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage(GUAVA);

    @ArchTest
    static final ArchRule theRoomsBelowTheEnvironmentDoNotKnowIt = noClasses()
            .that()
            .resideInAnyPackage(
                    "org.tamanoir.sched..",
                    "org.tamanoir.catalog..",
                    "org.tamanoir.supervision..",
                    "org.tamanoir.offload..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.tamanoir.ee..", "org.tamanoir.manager..");

    /** Reflection runs code of annotations' classes, which a jar may bring; these three see classes of the class path. */
    @ArchTest
    static final ArchRule annotationsOfServicesAreReadWhereTheyAreDefined = noClasses()
            .that()
            .doNotBelongToAnyOf(ServiceTraits.class, SizeEffect.class, ServiceFactory.class)
            .and()
            .resideOutsideOfPackage("org.tamanoir.testkit..")
            .should()
            .callMethod(Class.class, "getAnnotation", Class.class)
            .orShould()
            .callMethod(Class.class, "getAnnotations")
            .orShould()
            .callMethod(Class.class, "isAnnotationPresent", Class.class);

    @ArchTest
    static final ArchRule servicesAreSupervisedWithoutSockets = classes()
            .that()
            .resideInAnyPackage("org.tamanoir.catalog..", "org.tamanoir.supervision..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "org.tamanoir.catalog..",
                    "org.tamanoir.supervision..",
                    "org.tamanoir.platform..",
                    "org.tamanoir.service..",
                    "org.tamanoir.accounting..",
                    "org.tamanoir.anep..",
                    "org.tamanoir.nodeos..",
                    "org.tamanoir.sched..",
                    "org.tamanoir.traffic..",
                    "org.tamanoir.routing..",
                    "org.slf4j..",
                    "com.sun.management..",
                    JDK,
                    ANNOTATIONS);

    @ArchTest
    static final ArchRule theEnvironmentDoesNotUseTheClient = noClasses()
            .that()
            .resideInAPackage("org.tamanoir.ee..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.tamanoir.client..");

    @ArchTest
    static final ArchRule servicesAreTestedWithWhatTheySee = classes()
            .that()
            .resideInAPackage("org.tamanoir.testkit..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "org.tamanoir.testkit..",
                    "org.tamanoir.service..",
                    "org.tamanoir.anep..",
                    "org.tamanoir.nodeos..",
                    "org.tamanoir.format",
                    JDK,
                    ANNOTATIONS);

    @ArchTest
    static final ArchRule nothingRunsOnTheTestKit = noClasses()
            .that()
            .resideOutsideOfPackage("org.tamanoir.testkit..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("org.tamanoir.testkit..");

    @ArchTest
    static final ArchRule roomsDoNotDependOnEachOtherInCircles =
            slices().matching("org.tamanoir.(*)..").should().beFreeOfCycles();

    @ArchTest
    static void noCircleOfClassesIsLarge(JavaClasses classes) {
        assertThat(Circles.of(classes))
                .allSatisfy(circle -> assertThat(circle).hasSizeLessThanOrEqualTo(MOST_IN_A_CIRCLE));
    }
}
