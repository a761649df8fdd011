import type { ConfigMap, Secret } from '../../../model/generated/core-v1.ts'
import { utf8Bytes } from '../../../model/text/utf8-bytes.ts'

/** All keys of a ConfigMap with their bytes. */
export function configMapData({ data, binaryData }: ConfigMap): ReadonlyMap<string, Uint8Array> {
  const texts = Object.entries(data ?? {}).map(([key, text]) => [key, utf8Bytes(text)] as const)
  return new Map([...texts, ...decode(binaryData)])
}

/** All keys of a Secret with their bytes. */
export function secretData({ data }: Secret): ReadonlyMap<string, Uint8Array> {
  return new Map(decode(data))
}

/** Bytes are base64 in JSON. */
function decode(data: Readonly<Record<string, string>> | undefined): (readonly [string, Uint8Array])[] {
  return Object.entries(data ?? {}).map(([key, text]) => [key, decodeKey(key, text)])
}

function decodeKey(key: string, text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text)
  } catch (error) {
    // Without the text: it may be secret.
    throw new Error(`Cannot read key "${key}": expected base64`, { cause: error })
  }
}
