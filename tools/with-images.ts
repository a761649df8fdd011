import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { IMAGE_STORE } from '../test/e2e/lab/image-store.ts'

/** Imports the images of all labs once, for what is run meanwhile; should that fail, each lab does it and says why. */
export async function withImages<T>(run: () => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-images-'))
  try {
    const store = join(folder, 'root')
    const argv = ['test/e2e/lab/prepare-images.ts', store]
    const [status] = (await once(spawn(process.execPath, argv, { stdio: 'inherit' }), 'exit')) as [number | null]
    if (status === 0) process.env[IMAGE_STORE] = store
    return await run()
  } finally {
    delete process.env[IMAGE_STORE]
    rmSync(folder, { recursive: true })
  }
}
