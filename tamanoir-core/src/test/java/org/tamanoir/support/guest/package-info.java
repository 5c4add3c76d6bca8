/** Runs the test classes {@code *InGuest} of modules in the virtual machine. */
package org.tamanoir.support.guest;
