import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTar } from '../../../src/standalone/images/tar.ts'
import { makeBaseLayer } from './base-layer.ts'
import { writeImage } from './write-image.ts'
import type { LayerCompression } from './write-image.ts'

interface ContainerImageRequest {
  /** The package "deckhand" of Debian, whose files the image has. */
  readonly debianPackage: string
  readonly version: string
  /** As Debian and OCI name it. */
  readonly architecture: string
  readonly epoch: number
  readonly work: string
  readonly output: string
  /** The layer below, where it was made already. */
  readonly base?: string
  readonly compression?: LayerCompression
}

/** The name of the file of the lowest layer, in the folder for files on the way. */
export const BASE_LAYER = 'base.tar'
const ENTRY = 'usr/bin/deckhand-container'

/** Writes the image of a whole node: Debian with a runtime and what networks need, and our executable. For privileged containers. */
export async function buildContainerImage(request: ContainerImageRequest): Promise<void> {
  const { debianPackage, version, architecture, epoch, work, output } = request
  mkdirSync(work, { recursive: true })
  const base = request.base ?? join(work, BASE_LAYER)
  if (request.base === undefined) await makeBaseLayer({ file: base, architecture, epoch })
  const own = join(work, 'own.tar')
  const file = openSync(own, 'w')
  execFileSync('dpkg-deb', ['--fsys-tarfile', debianPackage], { stdio: ['ignore', file, 'inherit'] })
  closeSync(file)
  const entry = join(work, 'entry.tar')
  const content = readFileSync(join(import.meta.dirname, 'deckhand-container'))
  writeFileSync(entry, createTar([{ kind: 'file', path: ENTRY, content, mode: 0o755 }]))
  const config = {
    Entrypoint: ['/usr/bin/catatonit', '--', `/${ENTRY}`],
    Cmd: ['up'],
    Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    // Layers of containers cannot lie on the layers of another container.
    Volumes: { '/var/lib/deckhand': {} },
    ExposedPorts: { '6443/tcp': {} },
    StopSignal: 'SIGTERM',
    Labels: { 'org.opencontainers.image.title': 'Deckhand', 'org.opencontainers.image.version': version },
  }
  const image = {
    name: `deckhand.local/deckhand:${version}`,
    architecture,
    layers: [base, own, entry],
    config,
    epoch,
    work,
    output,
    ...(request.compression !== undefined && { compression: request.compression }),
  }
  await writeImage(image)
}
