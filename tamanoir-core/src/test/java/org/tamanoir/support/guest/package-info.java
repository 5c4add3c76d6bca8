/** Runs the test classes {@code *InGuest} of a module in the virtual machine. */
package org.tamanoir.support.guest;
