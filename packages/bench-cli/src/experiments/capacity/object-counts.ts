/** Numbers of objects, as `--objects` takes them. */
import { z } from 'zod';
import { list, number } from '../../config/value-schemas.ts';

/** As many as the generator of objects makes. */
const MAX_OBJECTS = 1_000_000;

const message = `must be a list of whole numbers from 0 to ${MAX_OBJECTS.toLocaleString('en')}, for example 0,15820,63280`;

export const objectsList = list(
  number(z.number(message).int(message).min(0, message).max(MAX_OBJECTS, message)),
  message,
);
