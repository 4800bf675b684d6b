#!/usr/bin/env node
import '#dinodns-server';
