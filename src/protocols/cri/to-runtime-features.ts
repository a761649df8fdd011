import { isVersionAtLeast } from '../../model/text/is-version-at-least.ts'
import type { RuntimeFeatures } from '../../model/pod/runtime-features.ts'
import type { RuntimeStatusReport } from './runtime-status.ts'
import type { RuntimeVersion } from './runtime-version.ts'

// CRI has no field for it. Older versions of these mount nothing, or the whole image for a part, and report no error, so they must not be tried.
const IMAGE_VOLUMES: ReadonlyMap<string, { readonly whole: string; readonly parts: string }> = new Map([
  ['containerd', { whole: '2.1', parts: '2.2' }],
  ['cri-o', { whole: '1.31', parts: '1.33' }],
])

// Older ones take the field and ignore it.
const STOP_SIGNALS: ReadonlyMap<string, string> = new Map([['containerd', '2.3']])

/** What the runtime can do: by its own word, and where it has none by its version. */
export function toRuntimeFeatures(
  { handlers, features }: Pick<RuntimeStatusReport, 'handlers' | 'features'>,
  version: Pick<RuntimeVersion, 'name' | 'version'>,
): RuntimeFeatures {
  return {
    handlers: new Map(
      handlers.map((handler) => [
        handler.name,
        {
          userNamespaces: handler.features?.userNamespaces === true,
          recursiveReadOnlyMounts: handler.features?.recursiveReadOnlyMounts === true,
        },
      ]),
    ),
    supplementalGroupsPolicy: features?.supplementalGroupsPolicy === true,
    imageVolumes: imageVolumes(version),
    stopSignals: stopSignals(version),
  }
}

function imageVolumes({ name, version }: Pick<RuntimeVersion, 'name' | 'version'>): RuntimeFeatures['imageVolumes'] {
  // Ours to answer: protocols/docker refuses such mounts.
  if (name === 'docker') return 'none'
  const since = IMAGE_VOLUMES.get(name.toLowerCase())
  // CRI has runtimes report an error for a host path that does not exist, which is what others see in such a mount.
  if (since === undefined || !/^v?\d/.test(version)) return 'unknown'
  if (!isVersionAtLeast(version, since.whole)) return 'none'
  return isVersionAtLeast(version, since.parts) ? 'parts' : 'whole'
}

function stopSignals({ name, version }: Pick<RuntimeVersion, 'name' | 'version'>): boolean {
  const since = STOP_SIGNALS.get(name.toLowerCase())
  return since === undefined || !/^v?\d/.test(version) || isVersionAtLeast(version, since)
}
