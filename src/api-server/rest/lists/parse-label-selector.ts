import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { parseSelectorText } from '../../../model/schema/parse-selector-text.ts'
import type { SelectsLabels } from '../../../model/schema/parse-selector-text.ts'
import { badRequest } from '../../api-error.ts'

/** The selector of a request; undefined when it selects everything. */
export function parseLabelSelector(text: string | null): SelectsLabels | undefined {
  try {
    return parseSelectorText(text ?? '')
  } catch (error) {
    throw badRequest(errorMessage(error))
  }
}
