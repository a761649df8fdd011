import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { NodePublishVolumeRequest, NodeStageVolumeRequest } from '../../src/protocols/csi/generated/csi-v1.ts'

const run = promisify(execFile)

/** Volumes that are folders (or files, for devices) below one folder, and are really mounted where they are wanted. */
export class FakeCsiVolumes {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async stage({ volumeId, stagingTargetPath, volumeCapability }: NodeStageVolumeRequest): Promise<void> {
    if (volumeCapability?.block === undefined) await this.#bind(this.#backing(volumeId, false), stagingTargetPath)
  }

  async publish(request: NodePublishVolumeRequest): Promise<void> {
    const { volumeId, stagingTargetPath, targetPath, volumeCapability, readonly } = request
    const isBlock = volumeCapability?.block !== undefined
    const source = isBlock || stagingTargetPath === '' ? this.#backing(volumeId, isBlock) : stagingTargetPath
    if (isMounted(targetPath)) return
    await this.#bind(source, targetPath)
    if (readonly) await run('mount', ['-o', 'remount,bind,ro', targetPath])
  }

  /** A driver removes what it published, but leaves the staging path to the caller that made it. */
  async unmount(path: string, then: 'keep' | 'remove'): Promise<void> {
    if (isMounted(path)) await run('umount', [path])
    if (then === 'keep' || !existsSync(path)) return
    if (statSync(path).isDirectory()) rmdirSync(path)
    else unlinkSync(path)
  }

  /** The data of a volume outlives all its mounts. */
  #backing(volumeId: string, isBlock: boolean): string {
    const path = join(this.#folder, volumeId)
    if (isBlock) writeFileSync(path, '', { flag: 'a' })
    else mkdirSync(path, { recursive: true })
    return path
  }

  async #bind(source: string, target: string): Promise<void> {
    if (isMounted(target)) return
    if (statSync(source).isDirectory()) mkdirSync(target, { recursive: true })
    else {
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, '', { flag: 'a' })
    }
    await run('mount', ['--bind', source, target])
  }
}

function isMounted(path: string): boolean {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .some((line) => line.split(' ')[4] === path)
}
