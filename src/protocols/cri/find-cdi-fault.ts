import { isRecord } from '../../base/document/is-record.ts'
import { isVersionAtLeast } from '../../model/text/is-version-at-least.ts'
import type { CriCalls } from './cri-calls.ts'
import type { RuntimeVersion } from './runtime-version.ts'

const CDI_SINCE = '1.7'

/**
 * Why the runtime gives containers no CDI devices, in words; undefined when it does, or when that cannot be known. CRI has no field for it, and
 * containerd takes the devices and ignores them where it is too old, or where its configuration has CDI off, as it is by default in 1.7.
 */
export async function findCdiFault(
  calls: Pick<CriCalls, 'status'>,
  { name, version }: Pick<RuntimeVersion, 'name' | 'version'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (name.toLowerCase() !== 'containerd' || !/^v?\d/.test(version)) return undefined
  if (!isVersionAtLeast(version, CDI_SINCE))
    return `containerd ${version} has no CDI, containerd has it from ${CDI_SINCE} on`
  const { info } = await calls.status({ verbose: true }, signal)
  return isOff(info['config'])
    ? 'CDI is off in the configuration of containerd, set enable_cdi of its CRI plugin'
    : undefined
}

function isOff(text = '{}'): boolean {
  try {
    const config: unknown = JSON.parse(text)
    return isRecord(config) && config['enableCDI'] === false
  } catch {
    return false
  }
}
