/** For the tests of services: {@link org.tamanoir.testkit.ServiceHarness} runs one without a node. */
@NullMarked
package org.tamanoir.testkit;

import org.jspecify.annotations.NullMarked;
