#!/usr/bin/env node
// Only syntax that old versions understand too, so that they get a sentence instead of a SyntaxError.
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 12)) {
  process.stderr.write(
    `Lazaret needs Node 20.12 or newer, and this is ${process.versions.node}. Install a newer one from nodejs.org.\n`,
  );
  process.exitCode = 2;
} else {
  import('../dist/main.js');
}
