package org.tamanoir.support;

import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** Prints why each skipped test was skipped, which the build's own report leaves out. Found as a service. */
public final class SkippedTestPrinter implements TestExecutionListener {
    private volatile TestPlan plan;

    @Override
    public void testPlanExecutionStarted(TestPlan testPlan) {
        plan = testPlan;
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        print(test, reason);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
            print(test, result.getThrowable().map(Throwable::getMessage).orElse("no reason given"));
        }
    }

    private void print(TestIdentifier test, String reason) {
        String parent = plan.getParent(test).map(TestIdentifier::getDisplayName).orElse("");
        System.out.println("SKIPPED " + parent + " > " + test.getDisplayName() + ": " + reason);
    }
}
