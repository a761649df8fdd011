import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')

/** Files of src/system that write or rename files without src/system/files/state/durable-file.ts: none of it is state that has to last. */
const OTHER_WRITERS: Readonly<Record<string, string>> = {
  'cgroups/cgroup-files.ts': 'files of the kernel',
  'cgroups/cgroup-moves.ts': 'files of the kernel',
  'cgroups/write-kernel-file.ts': 'files of the kernel',
  'directories/device-files.ts': 'empty files, on which devices are bound',
  'directories/docker-files.ts': 'the resolver file of a sandbox, which containers have mounted: written in place',
  'directories/logs/log-files.ts': 'logs of containers, rotated',
  'directories/pod-files.ts':
    'hosts files, which containers have mounted: written in place; termination messages of containers',
  'directories/logs/cut-file.ts': 'a termination message that is too large is emptied',
  'directories/logs/truncate-log.ts': 'logs of deckhand',
  'directories/volume-files.ts':
    'an empty file marks an emptyDir that is complete: without it, after a power cut, its group is set again',
  'files/append-file.ts': 'logs',
  'files/copy-tree.ts': 'the files of a backup; synced before they take their place',
  'files/file-streams.ts': 'an archive for the user, under its name only when it is whole',
  'files/payload/held-directory.ts': 'contents of volumes, by the atomic writer',
  'files/restrict-mode.ts': 'an empty file, which a library then fills',
  'files/serving-socket.ts': 'a socket gets its name',
  'files/state/durable-file.ts': 'the writer itself',
  'guarded/child/bind-target.ts': 'an empty file, on which a part of a volume is bound',
  'guarded/child/check-host-path.ts': 'an empty file, where a hostPath asks for one',
  'machine/kernel-settings.ts': 'files of the kernel',
  'mounts/project-quotas.ts': 'an argument of a command, in a file',
  'network/bridge-ports.ts': 'files of the kernel',
  'processes/lock-file.ts': 'the lock file, which holds nothing',
  'processes/own-process.ts': 'files of the kernel, and the lock file',
  'processes/start-process.ts': 'the output of a process',
}

// The whole module, or one of the calls that put content or a name in place.
const IMPORT = /^import (\* as \w+|\{[^}]*\}) from 'node:fs(?:\/promises)?'/gm
const WRITES = /\* as|\b(?:rename|writeFile|cp|copyFile)(?:Sync)?\b|\bcreateWriteStream\b/

// A file that is opened to be made or changed.
const OPENS = /\bopen(?:Sync)?\([^\n]*(?:'[wa]x?\+?'|'r\+'|\bO_(?:CREAT|WRONLY|RDWR)\b)/

function writesFiles(text: string): boolean {
  const imports = [...text.matchAll(IMPORT)].map(([, names]) => names ?? '')
  return imports.some((names) => WRITES.test(names)) || (imports.length > 0 && OPENS.test(text))
}

test('state is written by the durable writer alone: who else writes or renames files is listed with the reason', () => {
  const folder = join(root, 'src/system')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  )
  const writers = files.filter((name) => writesFiles(readFileSync(join(folder, name), 'utf8')))
  assert.deepEqual(writers.sort(), Object.keys(OTHER_WRITERS).sort())
})

/**
 * Files of the agent outside of src/system that give a file another name by themselves: all others do it through
 * src/system/directories/with-state-file-reports.ts, with an event and a metric.
 */
const OTHER_MOVERS: Readonly<Record<string, string>> = {
  'node/certificates/certificate-store.ts':
    'finishes what the Go kubelet began, and keeps a file of an administrator with which nothing is wrong',
}

/** Those of src/system that set aside: what the agent gets of them is wrapped in the reports. */
const SETS_ASIDE = ['directories/with-state-file-reports.ts', 'files/state/create-state-file.ts']

// They have no node on which something could be reported: it is in their logs.
const OTHER_PRODUCTS = /^(?:api-server|standalone)\//

const IMPORTS_MOVER = /^import \{([^}]*)\} from '[^']*\/durable-file\.ts'/gm

function movesFiles(text: string, ...names: readonly string[]): boolean {
  const imported = [...text.matchAll(IMPORTS_MOVER)].flatMap(([, list = '']) => list.split(/[\s,]+/))
  return imported.some((name) => names.includes(name))
}

test('a state file is set aside with a report: who else gives files another name is listed with the reason', () => {
  const folder = join(root, 'src')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !OTHER_PRODUCTS.test(name),
  )
  const find = (...names: readonly string[]) =>
    files.filter((name) => movesFiles(readFileSync(join(folder, name), 'utf8'), ...names)).sort()
  const outside = find('setAside', 'renameDurably').filter((name) => !name.startsWith('system/'))
  assert.deepEqual(outside, Object.keys(OTHER_MOVERS).sort())
  const inside = find('setAside').filter((name) => name.startsWith('system/'))
  assert.deepEqual(
    inside,
    SETS_ASIDE.map((name) => `system/${name}`),
  )
})

test('that check finds what it is for too', () => {
  const line = `import { setAside, writeFileDurably } from '../../system/files/state/durable-file.ts'`
  assert.ok(movesFiles(line, 'setAside') && !movesFiles(line, 'renameDurably'))
  assert.ok(movesFiles(`import {\n  renameDurably,\n} from './durable-file.ts'`, 'renameDurably'))
  assert.ok(!movesFiles(`import { setAsideBroken } from './state-file.ts'`, 'setAside'))
})

test('that check finds what it is for', () => {
  const found = (line: string) => writesFiles(`import { join } from 'node:path'\n${line}\n`)
  assert.ok(found(`import { readFile, rename } from 'node:fs/promises'`))
  assert.ok(found(`import {\n  readFile,\n  writeFile,\n} from 'node:fs/promises'`))
  assert.ok(found(`import { writeFileSync } from 'node:fs'`))
  assert.ok(found(`import * as files from 'node:fs'`))
  assert.ok(found(`import { open } from 'node:fs/promises'\nawait open(join(a, b), 'wx')`))
  assert.ok(
    found(`import { constants, open } from 'node:fs/promises'\nopen(a, constants.O_CREAT | constants.O_WRONLY)`),
  )
  assert.ok(!found(`import { readFile, readdir } from 'node:fs/promises'`))
  assert.ok(!found(`import { open } from 'node:fs/promises'\nawait open(path, 'r')`))
})
