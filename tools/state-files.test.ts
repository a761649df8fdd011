import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')

/** Files of src/system that write or rename files without src/system/files/durable-file.ts: none of it is state that has to last. */
const OTHER_WRITERS: Readonly<Record<string, string>> = {
  'cgroups/cgroup-files.ts': 'files of the kernel',
  'cgroups/write-kernel-file.ts': 'files of the kernel',
  'directories/log-files.ts': 'logs of containers, rotated',
  'directories/pod-files.ts': 'hosts files, which containers have mounted: written in place',
  'directories/truncate-log.ts': 'logs of deckhand',
  'files/durable-file.ts': 'the writer itself',
  'files/payload/held-directory.ts': 'contents of volumes, by the atomic writer',
  'files/serving-socket.ts': 'a socket gets its name',
  'machine/kernel-settings.ts': 'files of the kernel',
  'mounts/project-quotas.ts': 'an argument of a command, in a file',
  'processes/own-process.ts': 'files of the kernel, and the lock file',
}

// The whole module, or one of the calls that put content or a name in place.
const IMPORT = /^import (\* as \w+|\{[^}]*\}) from 'node:fs(?:\/promises)?'/gm
const WRITES = /\* as|\b(?:rename|writeFile|cp|copyFile)(?:Sync)?\b|\bcreateWriteStream\b/

function writesFiles(text: string): boolean {
  return [...text.matchAll(IMPORT)].some(([, names]) => WRITES.test(names ?? ''))
}

test('state is written by the durable writer alone: who else writes or renames files is listed with the reason', () => {
  const folder = join(root, 'src/system')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  )
  const writers = files.filter((name) => writesFiles(readFileSync(join(folder, name), 'utf8')))
  assert.deepEqual(writers.sort(), Object.keys(OTHER_WRITERS).sort())
})

test('that check finds what it is for', () => {
  const found = (line: string) => writesFiles(`import { join } from 'node:path'\n${line}\n`)
  assert.ok(found(`import { readFile, rename } from 'node:fs/promises'`))
  assert.ok(found(`import {\n  readFile,\n  writeFile,\n} from 'node:fs/promises'`))
  assert.ok(found(`import { writeFileSync } from 'node:fs'`))
  assert.ok(found(`import * as files from 'node:fs'`))
  assert.ok(!found(`import { readFile, readdir } from 'node:fs/promises'`))
})
